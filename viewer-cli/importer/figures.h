/*
 * figures.h -- the protocol between burstscope and the process that reads a growing recording for it.
 *
 *   burstscope-importer --follow VERSION DIRECTORY SETTLE_NS COMPACT BUCKETS HELD_BACK
 *                       [WINDOW_NS KEEP_BYTES CONDITION...]
 *
 * DIRECTORY may be the URL of a session at a relay daemon instead: it begins with "net://" then.
 * Commands are lines on the process's standard input: "look", with rows of the last seconds; "all",
 * with rows of the whole time; "state", without rows; "finish", "move DIRECTORY", "openmetrics",
 * "text", "conditions". It answers each on its standard output with a struct bsv_figures, n_rows
 * times a struct bsa_live_row, and metrics_bytes of metrics. Between commands it reads new records.
 * It ends at the end of its input. BUCKETS are the bounds of the metrics' histograms, in ns, each
 * followed by a comma; "-": no metrics are counted. With conditions (conditions/folding.h) only
 * those are counted: there are no rows, and figures.folded has the state of each condition, and of
 * a relay KEEP_BYTES of records are kept (bsa/live.h): "save DATABASE" makes a database of them.
 *
 * TRUST  The process reads untrusted data, and its answers are not trusted: bsv_reader checks
 *        lengths, terminates texts, and normalises bools.
 */
#ifndef BSV_IMPORTER_FIGURES_H
#define BSV_IMPORTER_FIGURES_H

#include "conditions/folding.h"

#define BSV_FOLLOW "--follow"

enum {
	BSV_FIGURES_MAGIC = 0x62736c76,
	BSV_FIGURES_ROWS = 1024,
	BSV_FIGURES_METRICS = 64 << 20,
	BSV_WHY = 96,
	BSV_SESSION = 192
};

#define BSV_URL "net://"

struct bsv_figures {
	uint32_t magic, n_rows, metrics_bytes;
	int32_t code; /* enum bsa_code: the error, which err describes */
	struct bsa_err err;
	struct bsa_live_state state; /* without exact and why */
	struct bsv_folded folded[BSV_CONDITIONS_MOST];
	char why[BSV_WHY];         /* the sums are not exact; "": they are */
	char session[BSV_SESSION]; /* bsa_live_name */
};

#endif
