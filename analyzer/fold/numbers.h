/*
 * numbers.h -- finds the executions that a hole hides, if lanes are known from summaries only: those whose
 * numbers are missing.
 *
 * A service numbers the executions that become ready (nth_ready of exec_service), and reports in each summary
 * how many had become ready by its end (n_ready). An execution whose summary was lost took its number before
 * any execution with a later number became ready, and after all with earlier numbers: so lanes are unknown
 * from that time until the end of the hole, and not before. A missing number may also belong to an execution
 * whose summary is yet to come: so a hole is judged a horizon after its end. Until then, the schedule takes
 * no step that the hole may affect.
 */
#ifndef BSA_FOLD_NUMBERS_H
#define BSA_FOLD_NUMBERS_H

#include "fold/event.h"
#include "fold/facts.h"
#include "fold/voices.h"

struct bsa_exec;
struct bsa_fold;

/* A hole that is still to be judged. */
struct bsa_open_hole {
	uint64_t began, ended;
	uint64_t from, until; /* lanes are also unknown for other reasons; BSA_NEVER, 0: no */
};

/* Executions that may be hidden by holes: for bsa_schedule_report_hidden, when holes are judged. */
struct bsa_put_off {
	struct bsa_stream stream;
	uint64_t after, before;
	bool over;
};

struct bsa_numbered; /* the numbers of one service */

struct bsa_numbers {
	struct bsa_numbered *services[BSA_INSTANCES]; /* owned; NULL: the service reported no number */
	struct bsa_open_hole *holes;
	struct bsa_put_off *put_off;
	size_t n_holes, room_holes, n_put_off, room_put_off;
};

void bsa_numbers_fini(struct bsa_numbers *n);

/*
 * Service @instance begins, recorded from its start; or, with @again, it emits its existing objects for a
 * session that begins now.
 */
void bsa_numbers_begin(struct bsa_fold *f, uint16_t instance, bool again);

/* Take the numbers in the summary of @x. */
void bsa_numbers_hear(struct bsa_fold *f, const struct bsa_exec *x, const struct bsa_exec_service *e);

/*
 * An event shows that @x became ready, and that @n_ready executions had by then, some of them after @since.
 * @n_ready 0: no number.
 */
void bsa_numbers_see(struct bsa_fold *f, struct bsa_exec *x, uint32_t n_ready, uint64_t since);

/*
 * An execution of service @instance that was answered well, and so had become ready before @at, is over: no
 * event had its number. It, or its stream, was there since @since: a service that began later did not number
 * it.
 */
void bsa_numbers_answered(struct bsa_fold *f, unsigned instance, uint64_t since, uint64_t at);

/* At the end: the number of executions that became ready without a recorded event; BSA_NEVER: unknown. */
uint64_t bsa_numbers_unseen(const struct bsa_fold *f);

/* Whether each execution of service @instance that became ready before the last loss ended has a recorded event. */
bool bsa_numbers_none_unseen(const struct bsa_fold *f, unsigned instance);

/* Events were lost. False: numbers cannot determine what the loss hides. */
bool bsa_numbers_lose(struct bsa_fold *f, uint64_t began, uint64_t ended);

/*
 * Judge the holes that can be judged. Returns the time, at most @until, up to which steps may be taken in
 * spite of the others.
 */
uint64_t bsa_numbers_advance(struct bsa_fold *f, uint64_t until);

/* Judge all holes now. @hurry: before everything that could be known is known. */
void bsa_numbers_judge(struct bsa_fold *f, bool hurry);

/* Like bsa_schedule_report_hidden, at once or when all holes are judged. */
void bsa_numbers_hidden(struct bsa_fold *f, const struct bsa_stream *stream, uint64_t after, uint64_t before,
                        bool over);

/* At the end: a time by which every execution that had become ready has a summary or was lost in a hole; 0: unknown. */
uint64_t bsa_numbers_complete_until(const struct bsa_fold *f, unsigned instance);

#endif
