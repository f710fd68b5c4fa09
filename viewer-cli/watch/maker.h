/*
 * maker.h -- a case is made of a snapshot in a process of its own: an import may take seconds, or
 * crash, and meanwhile the next condition fires.
 */
#ifndef BSV_MAKER_H
#define BSV_MAKER_H

#include "watch/case.h"

#include <sys/types.h>

/* The result of making a case. */
enum bsv_made {
	BSV_MADE_CASE,   /* case.json has the reason */
	BSV_MADE_NOTHING /* no condition applies to the recording */
};

/*
 * Begin to make a case of @directory, whose case.json has what fired. The process, which is gone
 * when this one is; below 0: why not.
 */
pid_t bsv_maker_start(const char *directory, struct bsa_err *err);

/*
 * The result, from the status of waitpid(). If the maker failed or crashed, case.json states that,
 * and the trace is kept.
 */
enum bsv_made bsv_maker_result(int status, const char *directory);

#endif
