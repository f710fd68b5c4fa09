/*
 * make.h -- the report of a database, with the answers of the commands in it, as a file.
 */
#ifndef BSV_REPORT_MAKE_H
#define BSV_REPORT_MAKE_H

#include "base/command.h"

struct bsv_page_wanted {
	const char *output;           /* NULL: the standard output */
	const char *title;            /* NULL: the name of the database */
	const char *compare;          /* how this differs from the input, too; NULL: nothing */
	const struct bsv_call *first; /* a question whose answer comes before all others; NULL: none */
	int64_t bytes;                /* how large it may become, about; 0: the usual */
};

/*
 * @call: --where, --from and --to, what is about the whole program, by which path the page names
 * the database, and, if @input is NULL, which input.
 */
int bsv_page_make(const struct bsv_call *call, const char *input, const struct bsv_page_wanted *wanted,
                  struct bsa_err *err);

#endif
