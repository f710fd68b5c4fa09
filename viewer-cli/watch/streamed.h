/*
 * streamed.h -- the recording that burstscope watch reads for conditions that take a fold: a ring
 * of tracefiles in memory, or a session at a relay daemon; and the process that folds what is
 * written there (live/reader.h).
 */
#ifndef BSV_STREAMED_H
#define BSV_STREAMED_H

#include "live/reader.h"

#include <limits.h>

enum { BSV_STREAMED_TIMER_US = 250000, BSV_STREAMED_ASK_MS = 250 };

/* All 0: no reader is started. */
struct bsv_streamed {
	char directory[PATH_MAX]; /* directory of the ring, or the URL of the session; "": none */
	bool remote;              /* the place is a URL */
	struct bsv_reader reader;
	struct bsv_figures figures;          /* the last answer */
	struct bsv_figures answer;           /* the next one, as far as it is here */
	uint64_t taken[BSV_CONDITIONS_MOST]; /* number of firings taken so far, as the reader counts them */
	/*
	 * firings before this time were taken from an earlier reader, which has ended: a new one
	 * reads the same files again
	 */
	uint64_t old;
};

/* The firings of a condition since the last call. */
struct bsv_streamed_fired {
	unsigned condition;
	uint64_t n, from, to; /* as in bsv_folded */
};

/* Read @directory from now on. BSA_E_ENV. */
int bsv_streamed_begin(struct bsv_streamed *s, const struct bsv_watching *watching, bool compact, struct bsa_err *err);

/* The same after the reader has gone: what it has reported already is not reported again. BSA_E_ENV. */
int bsv_streamed_begin_again(struct bsv_streamed *s, const struct bsv_watching *watching, bool compact,
                             struct bsa_err *err);

/* Ask for the state, without waiting. 1: it is new; 0: not yet. BSA_E_ENV: the reader has ended, or does not answer. */
int bsv_streamed_ask(struct bsv_streamed *s, struct bsa_err *err);

/* The next condition that has fired since. */
bool bsv_streamed_next(struct bsv_streamed *s, struct bsv_streamed_fired *ret);

/* Make a database at @path of what is kept of a session at a relay daemon. Like bsv_reader_save. */
int bsv_streamed_save(struct bsv_streamed *s, const char *path, struct bsa_err *err);

/* The reader ends, and the ring is removed. All 0 is fine, and that is what is left. */
void bsv_streamed_end(struct bsv_streamed *s);

#endif
