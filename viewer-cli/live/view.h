/*
 * view.h -- the figures of a recording that grows, as a screen for people, as lines for a pipe, and
 * as JSON for programs.
 *
 * Numbers in, text out: nothing here knows a terminal. Names come from strangers.
 */
#ifndef BSV_LIVE_VIEW_H
#define BSV_LIVE_VIEW_H

#include "base/screen.h"
#include "importer/figures.h"

enum bsv_view_sort { BSV_BY_RATE, BSV_BY_P99, BSV_BY_MISSES, BSV_BY_SHARE, BSV_BY_NAME, BSV_VIEW_SORTS };

/* The apps that are shown, if others are left out. */
struct bsv_view_part {
	struct bsa_live_sum sum; /* rows of all of the time */
	uint32_t apps, of_apps;
};

struct bsv_view {
	const struct bsv_figures *figures;
	const struct bsa_live_row *rows; /* figures->n_rows of them */
	struct bsv_screen screen;
	int height;                       /* lines; 0: as many as there are */
	const char *source;               /* description of the recording: "its own session, compact" */
	const char *message;              /* the latest notice; NULL: none */
	const char *unheard;              /* shown as long as no service has been heard; NULL: nothing */
	const char *app;                  /* only this app is shown; NULL: all */
	const struct bsv_view_part *part; /* NULL: no app is left out of the sums */
	enum bsv_view_sort sort;
	uint64_t now; /* on the clock of the trace: CLOCK_MONOTONIC of its host */
	bool paused, keys;
	bool help;      /* help on the keys and the columns, instead of the rows */
	bool causes;    /* the lines of causes and of doubts are whole, in as many lines as they need */
	bool held_back; /* LTTng keeps events in memory, so there is no time up to which everything is known */
};

enum {
	BSV_VIEW_WHOLE = 80
}; /* width from which on all columns are there: on a narrower screen those at the right are not */

const char *bsv_view_sort_name(enum bsv_view_sort sort);

/* Lines, none wider than the screen, nor more than its height. 0; BSA_E_ENV: no memory. */
int bsv_view_print(const struct bsv_view *v, FILE *to, struct bsa_err *err);

/* One object, in one line (docs/top.schema.json). @final: rows are of all of the time. */
void bsv_view_json(const struct bsv_view *v, bool final, FILE *to);

/* The name of the app that comes after @app in the order of names: NULL behind the last one. Borrowed from the rows. */
const char *bsv_view_next_app(const struct bsv_view *v, const char *app);

/*
 * One line about all of the time: what was counted, and why that is not exact, if so. Broken
 * between words, if the screen is narrower.
 */
void bsv_view_sum(const struct bsv_view *v, FILE *to);

#endif
