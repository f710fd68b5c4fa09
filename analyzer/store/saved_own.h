/*
 * saved_own.h -- shared only by the files that replay missed deadlines: saved_run.c, which goes through the services
 * and their misses; saved_calls.c, which reads executions back; saved_miss.c, which replays one miss; late_start.c,
 * which looks at misses that were submitted too late.
 */
#ifndef BSA_STORE_SAVED_OWN_H
#define BSA_STORE_SAVED_OWN_H

#include "fold/blame.h"
#include "replay/without.h"
#include "store/numbers.h"
#include "store/own.h"
#include "store/usual_runs.h"

#include <assert.h>

enum {
	BUSY_MOST = 512, /* calls before a call, and after it, that are looked at where no lane was idle */
	MODELS_MOST = 256,
};

#define LEAD_MOST INT64_C(50000000) /* by which it is asked what an earlier submission would have changed */

/* The question of a row: the miss without part of a cause, or without a culprit. */
struct bsa_saved_asked_row {
	uint64_t culprit;
	uint32_t app;
	uint8_t cause;
	int8_t saved;
	bool is_whole; /* its parts cover all of it */
	int64_t late, part[BSA_PARTS];
};

struct bsa_saved_asked {
	uint64_t id, lateness;            /* lateness 0: it was given up, or its client left it */
	struct bsa_saved_asked_row *rows; /* owned */
	size_t n;
	/* of a refusal: the execution that may be the culprit of its row of @queue_cause, which has none; 0:
	 * there is no such execution */
	uint64_t queue;
	uint32_t queue_app;
	uint8_t queue_cause;
	bool submitted_late; /* its primary cause */
	bool has_start;      /* submitted_late: a row of late_start has what held its thread up */
	int64_t delay,
		/* how long its thread waited for a cpu since its call before, and how long ago that was; NOTHING:
		 * unknown */
		gap;
	int64_t lead;    /* submitted earlier by less, it would have been too late, too */
	int64_t planned; /* when it should have been submitted; NOTHING: unknown, or not looked for */
	int64_t held; /* for how long after that its thread had not returned from its call before; NOTHING: unknown */
	/* at most so long no other call had an event, since its thread's call before; NOTHING: unknown */
	int64_t silent;
	int64_t asked_lead; /* by how much earlier a replay was asked; 0: it was not */
	int met;            /* result of the replay; -1: not replayed */
	uint8_t outcome;    /* LABEL_replay_ */
};

struct bsa_saved_kept {
	struct bsa_without_call call;
	int64_t dispatched,
		gap_from; /* gap_from: the lanes were idle from then until it was ready; INT64_MAX: they were not */
	/* since the last long pause of all apps, which began then, no call has waited; INT64_MAX: unknown */
	int64_t even_from;
	int64_t over, until; /* upper bound of the end of its lane time or wait; the same over all earlier calls */
	uint32_t asked;      /* the number of its question, from 1; 0: not asked */
	int64_t first, last; /* time of its events; where some may not be there: INT64_MIN and INT64_MAX */
	bool bad, idle, handed, enqueued;
	/* the smallest id of the models of its app, in its trace, that have its name */
	uint32_t named;
	int64_t queue, preempted, preemptions;
};

struct bsa_saved_hole {
	int64_t began, ended;
	bool is_loss; /* otherwise it is the waits, or the holder of a lane, that are not known */
};

/* The runs of a model, and the range of the answers to whole ones. */
struct bsa_saved_usual {
	uint32_t model;
	/* the service's latest estimate of the least lane time; 0: no execution reported one */
	uint64_t floor;
	struct bsa_usual_runs runs;
	uint64_t answer_least, answer_most;
	int64_t budget; /* the time that its executions usually have until their deadlines; 0: unknown */
};

struct bsa_saved_waiting {
	size_t call, first; /* indices in kept, counted from the first call ever */
	int64_t begins, horizon;
	int64_t observed_from; /* nothing may be lost since then */
	int64_t waited_from;   /* busy: before the first that waited when it begins was ready */
	bool busy;             /* calls were there when it begins */
};

struct bsa_saved {
	struct bsa_store *s;
	uint64_t every, seen;
	struct bsa_saved_asked *asked; /* owned, by id */
	size_t n, room;

	struct bsa_saved_kept *kept;
	size_t n_kept, base; /* base: so many were kept before the first one that is */
	struct bsa_saved_waiting *waiting;
	size_t n_waiting;
	int64_t until;                                  /* lanes are busy */
	int64_t began;                                  /* begin of the recording */
	int64_t even_from;                              /* as of the last call */
	int64_t last;                                   /* the last answer */
	struct bsa_saved_usual usual[MODELS_MOST], any; /* any: of all models; its runs are of no interest */
	size_t n_usual;
	struct bsa_saved_hole *holes;
	size_t n_holes;
	bool holes_known;
	struct bsa_without_call *window;
	struct bsa_without_world world;
	sqlite3_stmt *handed, *update, *name, *stopped;
	int64_t trace, instance; /* the service that is replayed */
	uint64_t played, allowed, each;
	uint64_t *ids;
};

static inline struct bsa_saved_kept *bsa_saved_kept_at(const struct bsa_saved *v, size_t number)
{
	assert(number >= v->base && number - v->base < v->n_kept);
	return &v->kept[number - v->base];
}

static inline int64_t bsa_saved_ready_of(const struct bsa_saved_kept *k)
{
	return (int64_t)(k->call.submitted + k->call.send + k->call.ready);
}

/* Whether the call waited or had a lane at @at. */
static inline bool bsa_saved_is_there(const struct bsa_saved_kept *k, int64_t at)
{
	return k->over >= at && (k->bad || bsa_saved_ready_of(k) < at);
}

/* The answer of a replay as a number of the database: -1, unknown, is NULL. */
static inline int64_t bsa_saved_null_or(int said)
{
	return said < 0 ? NOTHING : said;
}

static inline int64_t bsa_saved_column_integer(sqlite3_stmt *q, int column)
{
	return sqlite3_column_int64(q, column);
}

/* ---- saved_run.c ---- */

void bsa_saved_no_memory(struct bsa_saved *v);

/* The number of the question about execution @id, from 1; 0: it is not in the sample. */
uint32_t bsa_saved_asked_of(const struct bsa_saved *v, uint64_t id);

/* ---- saved_calls.c ---- */

/* Prepare for the services. What goes wrong is kept by the store. */
void bsa_saved_calls_open(struct bsa_saved *v);

/*
 * Begin with the service v->trace, v->instance: learn what its models usually take, and the times of which something
 * is unknown. Returns the query of its executions, in the order in which they asked for a lane; owned by the caller;
 * NULL: the store has failed. @only: the trace has no other service.
 */
sqlite3_stmt *bsa_saved_calls_of_service(struct bsa_saved *v, bool only);

/* Fill @k with the execution of the row of @q. Returns the time at which the execution asked for a lane. */
int64_t bsa_saved_take_call(struct bsa_saved *v, sqlite3_stmt *q, struct bsa_saved_kept *k);

/*
 * Fill @k's hand-overs: from when it was given a lane that was idle until it ran there, each time; or until it was
 * given up.
 */
void bsa_saved_find_hand(struct bsa_saved *v, struct bsa_saved_kept *k);

/* Borrowed until the next service; NULL: there are too many models. */
struct bsa_saved_usual *bsa_saved_usual_of(struct bsa_saved *v, uint32_t model);

/* Whether something is unknown of a time; @losses_only: whether events may have been lost. */
bool bsa_saved_is_in_hole(const struct bsa_saved *v, int64_t began, int64_t ended, bool losses_only);

/* ---- saved_miss.c ---- */

/* Prepare for the misses. What goes wrong is kept by the store. */
void bsa_saved_miss_open(struct bsa_saved *v);

/* Replay the miss of @w, and store the answers. */
void bsa_saved_replay_miss(struct bsa_saved *v, const struct bsa_saved_waiting *w);

/* By how much earlier question @nth, of 0 to 2, about an earlier submission has the call @c of @a submitted. */
uint64_t bsa_saved_earlier_by(const struct bsa_saved_asked *a, const struct bsa_without_call *c, unsigned nth);

/* ---- late_start.c ---- */

/* Call @number, the last one that is kept, was submitted too late: was its thread held up by the call before? */
void bsa_late_start_look_before(struct bsa_saved *v, size_t number);

/*
 * Call @number was submitted too late, and those after it are kept: did all apps stand still when it should have
 * been submitted? Then the machine made it late.
 */
void bsa_late_start_look_around(struct bsa_saved *v, size_t number);

/*
 * Would it have been too late, too, if its thread had not waited for a cpu, and had returned from its call before
 * in time?
 */
bool bsa_late_start_is_by_itself(const struct bsa_saved_asked *a);

/* After all replays: how long the threads waited for a cpu, of misses that neither look explained, and what follows. */
void bsa_late_start_finish(struct bsa_saved *v);

#endif
