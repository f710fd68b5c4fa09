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

/* All of @text, and finish. @options may be NULL. Without memory: ends the program. */
void fold_script(struct folded *ret, const char *text, const struct bsa_fold_options *options);

void folded_fini(struct folded *f);

#endif
