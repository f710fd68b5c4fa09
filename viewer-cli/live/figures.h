/*
 * figures.h -- what burstscope and the process that reads a growing recording for it say to each other.
 *
 *   burstscope-importer --follow VERSION DIRECTORY SETTLE_NS COMPACT BUCKETS [WINDOW_NS CONDITION...]
 *
 * Commands come as lines on its standard input: "look", "finish", "move DIRECTORY", "openmetrics", "text", "conditions". To each it answers with a struct
 * bsv_figures, n_rows times a struct bsa_live_row, and metrics_bytes of metrics, on its standard output. Between them it reads what has
 * grown. At the end of its input it ends. BUCKETS are the bounds of the metrics' histograms, in ns, with a comma behind each; "-": no metrics
 * are counted. With conditions (watch/folding.h) nothing but those is counted: there are no rows, and figures.folded says what came of each.
 *
 * TRUST  It reads what strangers wrote, and may say anything: bsv_reader checks lengths, ends texts, and believes no bool.
 */
#ifndef BSV_LIVE_FIGURES_H
#define BSV_LIVE_FIGURES_H

#include "watch/folding.h"

#define BSV_FOLLOW "--follow"

enum { BSV_FIGURES_MAGIC = 0x62736c76, BSV_FIGURES_ROWS = 1024, BSV_FIGURES_METRICS = 64 << 20, BSV_WHY = 96 };

struct bsv_figures {
	uint32_t magic, n_rows, metrics_bytes;
	int32_t code; /* of enum bsa_code: what went wrong, and err says it */
	struct bsa_err err;
	struct bsa_live_state state; /* but exact and why */
	struct bsv_folded folded[BSV_CONDITIONS_MOST];
	char why[BSV_WHY]; /* the sums are not exact; "": they are */
};

#endif
