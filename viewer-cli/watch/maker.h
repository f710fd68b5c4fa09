/*
 * maker.h -- a case is made of a snapshot in a process of its own: an import may take seconds, or crash, and meanwhile the next condition fires.
 */
#ifndef BSV_MAKER_H
#define BSV_MAKER_H

#include "watch/case.h"

#include <sys/types.h>

/* What became of a case. */
enum bsv_made {
	BSV_MADE_CASE,   /* case.json says what */
	BSV_MADE_NOTHING /* it was none that the conditions mean */
};

/* Begin to make a case of @directory, whose case.json says what fired. The process, which is gone when this one is; below 0: why not. */
pid_t bsv_maker_start(const char *directory, struct bsa_err *err);

/* What came of it, from its status as waitpid() has it. Where it failed or crashed, case.json says so: the trace is kept. */
enum bsv_made bsv_maker_result(int status, const char *directory);

#endif
