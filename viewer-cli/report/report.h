/*
 * report.h -- writes a database as one HTML page that needs no other file and no server.
 *
 * ORDER    The parts that a reader sees first come first in the file: answers and the overview,
 *          then the script that draws them; then the packed executions.
 * SAFETY   The page's policy allows only the page's own script and style, by their hashes, and
 *          nothing from elsewhere. Texts of the recording are data in it (JSON without a <), and
 *          become text nodes.
 */
#ifndef BSV_PAGE_REPORT_H
#define BSV_PAGE_REPORT_H

#include "input/input.h"

#include <stdio.h>

enum { BSV_PAGE_NO_MORE = 1000 }; /* no status of a command */

struct bsv_page_asked {
	const char *title; /* NULL: the name of the recording, without its directory */
	const char *part;  /* in words, the part of the recording that is drawn, as "from 2.000 s"; NULL: all of it */
	int64_t *ret_executions; /* how many executions that part has. Owned by the caller */
	int64_t bytes;           /* how large the page may become, about */
	struct bsv_input *other; /* shown beside the first recording; NULL: none */
	/*
	 * Write the JSON of the i-th answer to @to; *name: of its command. Negative: why there is
	 * none. Called from 0 on.
	 */
	int (*answer)(void *ctx, size_t i, const char **name, FILE *to, struct bsa_err *err);
	void *ctx;
};

int bsv_page_write(struct bsv_input *input, const struct bsv_page_asked *asked, FILE *to, struct bsa_err *err);

#endif
