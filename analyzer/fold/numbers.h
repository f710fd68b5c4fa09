/*
 * numbers.h -- which executions a hole hides, where lanes are known from summaries: those whose numbers are missing.
 *
 * A service numbers the executions that become ready (nth_ready of exec_service), and tells in each summary how many had become ready
 * by its end (n_ready). An execution whose summary was lost took its number before one that has a later number became ready, and
 * after all with earlier ones had come: so lanes are unknown from there on until the hole is over, and not before. A missing number
 * may also be of an execution whose summary is still to come: so a hole is judged when the horizon has passed since its end. Until
 * then, the schedule takes no step that the hole may touch.
 */
#ifndef BSA_FOLD_NUMBERS_H
#define BSA_FOLD_NUMBERS_H

#include "fold/event.h"
#include "fold/facts.h"
#include "fold/voices.h"

struct bsa_exec;
struct bsa_fold;

/* A hole that is not judged yet. */
struct bsa_open_hole {
	uint64_t began, ended;
	uint64_t from, until; /* lanes are unknown for other reasons, too; BSA_NEVER, 0: no */
};

/* Executions that may be hidden by holes: for bsa_schedule_hidden, when holes are judged. */
struct bsa_put_off {
	struct bsa_stream stream;
	uint64_t after, before;
	bool over;
};

struct bsa_numbered; /* what is known of one service */

struct bsa_numbers {
	struct bsa_numbered *services[BSA_INSTANCES]; /* owned; NULL: the service told no number */
	struct bsa_open_hole *holes;
	struct bsa_put_off *put_off;
	size_t n_holes, room_holes, n_put_off, room_put_off;
};

void bsa_numbers_fini(struct bsa_numbers *n);

/* @instance begins, and its recording with it; or, @again, it tells what there is to who began to record it now. */
void bsa_numbers_begin(struct bsa_fold *f, uint16_t instance, bool again);

/* The summary of @x. */
void bsa_numbers_hear(struct bsa_fold *f, const struct bsa_exec *x, const struct bsa_exec_service *e);

/* An event tells that @x became ready: that @n_ready had by then, of which some became so after @since. @n_ready 0: of no number. */
void bsa_numbers_see(struct bsa_fold *f, struct bsa_exec *x, uint32_t n_ready, uint64_t since);

/* At the end: how many executions became ready of which no event tells that; BSA_NEVER: unknown. */
uint64_t bsa_numbers_unseen(const struct bsa_fold *f);

/* Events were lost. False: no number can tell what that hides. */
bool bsa_numbers_lose(struct bsa_fold *f, uint64_t began, uint64_t ended);

/* Steps up to @until may be taken; returns until when they may be, because of holes that are not judged. Judges those that can be. */
uint64_t bsa_numbers_advance(struct bsa_fold *f, uint64_t until);

/* All holes are judged now. @hurry: before all is known that could be. */
void bsa_numbers_judge(struct bsa_fold *f, bool hurry);

/* As bsa_schedule_hidden, at once or when all holes are judged. */
void bsa_numbers_hidden(struct bsa_fold *f, const struct bsa_stream *stream, uint64_t after, uint64_t before,
                        bool over);

/* At the end: of all executions that had become ready at this time all have summaries, or were lost in holes; 0: unknown. */
uint64_t bsa_numbers_complete_until(const struct bsa_fold *f, unsigned instance);

#endif
