/*
 * reader.h -- a recording that grows, read by a process of its own (figures.h), which a spoilt one may crash.
 */
#ifndef BSV_LIVE_READER_H
#define BSV_LIVE_READER_H

#include "importer/figures.h"
#include "metrics/metrics.h"

#include <sys/types.h>

/*
 * Rows of the last seconds, or of the whole time; and of the whole time once the recording is over,
 * which nothing but metrics may follow. BSV_ROWS_NONE: of bsv_reader_state.
 */
enum bsv_reader_rows { BSV_ROWS_LAST, BSV_ROWS_ALL, BSV_ROWS_FINISH, BSV_ROWS_NONE };

/*
 * All 0: none.
 * FAILURE  After a question has failed, its answer may still come, and could not be told from that
 *          of the next question. So each later question fails for the same reason, until the reader is
 *          closed and opened anew. An error that is the process's own answer fails that one call only.
 */
struct bsv_reader {
	pid_t pid;
	int to, from;
	const char *failed; /* why no question is answered any more; NULL: the reader is usable */
	/*
	 * for bsv_reader_conditions and bsv_reader_save: a question is open since asked_at
	 * (CLOCK_MONOTONIC), and n_got bytes of its answer are here
	 */
	bool asked;
	uint64_t asked_at, patience;
	size_t n_got;
	/* for bsv_reader_metrics: a question is open since counting_since (CLOCK_MONOTONIC) */
	bool counting;
	enum bsv_metrics_form counting_form;
	uint64_t counting_since;
	/* for bsv_reader_ask and bsv_reader_state: a question for asking_rows is open since asking_since */
	bool asking;
	enum bsv_reader_rows asking_rows;
	uint64_t asking_since;
	/* what is here of the answer to one of these two: the figures, and then what follows them, of malloc */
	struct bsv_figures head;
	size_t n_head, n_tail;
	char *tail;
};

/*
 * @directory: or the URL of a session at a relay daemon, net://RELAY[:PORT][/host/HOST/SESSION],
 * which is not waited for.
 */
/*
 * @buckets: of the metrics that it counts, too; NULL: it counts none. @held_back: whether LTTng
 * holds events back until a packet is full, which the metrics show. BSA_E_ENV: it cannot be
 * started.
 */
int bsv_reader_open(struct bsv_reader *ret, const char *directory, uint64_t settle_ns, bool compact,
                    const struct bsv_buckets *buckets, bool held_back, struct bsa_err *err);
/* The conditions of burstscope watch. Borrowed. */
struct bsv_watching {
	const struct bsv_condition *conditions;
	size_t n_conditions;
	uint64_t window_ns;  /* over which rules are held */
	uint64_t keep_bytes; /* bytes of records, for bsv_reader_save; 0: none */
};

/* The same, and it counts nothing but what came of conditions: bsv_reader_conditions. */
int bsv_reader_watch(struct bsv_reader *ret, const char *directory, uint64_t settle_ns, bool compact,
                     const struct bsv_watching *watching, struct bsa_err *err);
void bsv_reader_close(struct bsv_reader *r); /* waits for it. All 0 is fine */

/*
 * The figures known by now. @rows has room for BSV_FIGURES_ROWS. It waits 0.5 s for an answer, and
 * no longer than until @interrupt (-1: none) is readable. 1: they are there. 0: ask again later;
 * the outputs are untouched. BSA_E_ENV: the process has ended, its answer is invalid, or there was
 * no answer for a minute.
 */
int bsv_reader_ask(struct bsv_reader *r, enum bsv_reader_rows which, int interrupt, struct bsv_figures *ret,
                   struct bsa_live_row *rows, struct bsa_err *err);

/*
 * The state alone, without rows: where the records come from, and whether they still do. As
 * bsv_reader_ask; each of the two drops an answer that is still due to the other.
 */
int bsv_reader_state(struct bsv_reader *r, int interrupt, struct bsv_figures *ret, struct bsa_err *err);

/* Whether the answer to a bsv_reader_ask for rows is still due. */
bool bsv_reader_is_asking(const struct bsv_reader *r);

/*
 * The state of each condition so far: @answer->folded. It does not wait for the process, which may
 * be busy or stopped: 0: ask again later, with the same @answer, which holds a part. 1: @answer is
 * whole. BSA_E_ENV: the process has ended, or its answer is invalid, or has not come for 15 s.
 */
int bsv_reader_conditions(struct bsv_reader *r, struct bsv_figures *answer, struct bsa_err *err);

/*
 * A database at @path of the records that it has kept. It waits no more than bsv_reader_conditions
 * does, and begins when no answer to that is open. 1: the database is there. BSA_E_INPUT: it cannot
 * be made; BSA_E_ENV: as bsv_reader_conditions, or no answer for a minute.
 */
int bsv_reader_save(struct bsv_reader *r, const char *path, struct bsv_figures *answer, struct bsa_err *err);

/*
 * The metrics that it has counted, as text: *ret of malloc, *ret_bytes of it. It waits 5 s for a
 * whole answer, and no longer than until @interrupt (-1: none) is readable. 1: they are there. 0:
 * ask again later; an answer that comes meanwhile is then returned at once, unless it was asked for
 * a minute before or in another form; and of one that has begun, the rest is waited for 1 s.
 * BSA_E_ENV: as bsv_reader_ask.
 */
int bsv_reader_metrics(struct bsv_reader *r, enum bsv_metrics_form form, int interrupt, char **ret, size_t *ret_bytes,
                       struct bsa_err *err);

/*
 * Read what has come of an answer to bsv_reader_metrics. False: the rest may still come, and until
 * then each other question waits for it. True: no other question waits for it; the answer, if there
 * is one, is kept for the next bsv_reader_metrics.
 */
bool bsv_reader_take_metrics(struct bsv_reader *r);

/*
 * Go on in another directory. It waits 0.5 s for the answer to an open question, and no longer than until
 * @interrupt (-1: none) is readable. 1: the process has the request, and answers it with the next
 * bsv_reader_ask for BSV_ROWS_LAST. 0: call again later. BSA_E_ENV: the process has ended, its answer is invalid, or
 * has not come for a minute.
 */
int bsv_reader_move(struct bsv_reader *r, const char *directory, int interrupt, struct bsa_err *err);

#endif
