/* folded.h -- a script through a fold, in one call. */
#ifndef ANALYZER_FOLDED_H
#define ANALYZER_FOLDED_H

#include "analyzer/collect.h"
#include "analyzer/script.h"
#include "fold/fold.h"

struct folded {
	struct collected facts;
	struct bsa_left_out left_out;
	struct bsa_fold_ids last;
	uint64_t latest_summary;
};

/* When the recording of all traces of a script ended, as bsa_fold_recorded takes it. */
struct fold_end {
	uint64_t until, over_by;
};

/* All of @text, and finish. @options and @end may be NULL. Without memory: ends the program. */
void fold_script_until(struct folded *ret, const char *text, const struct bsa_fold_options *options,
                       const struct fold_end *end);

/* As above: the recording ends with its last event. */
void fold_script(struct folded *ret, const char *text, const struct bsa_fold_options *options);

void folded_fini(struct folded *f);

#endif
