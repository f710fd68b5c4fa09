/*
 * crowd.c -- keeps the last stretches of each lane in a ring, and stores a long wait as the first
 * and the last stretch of its lane that it waited behind.
 */
#include "store/crowd.h"

#include "store/numbers.h"
#include "store/own.h"
#include "store/statement.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL_UNKNOWN = 3, LANE_BITS = 8, SEQUENCE_BITS = 43, LANES = 256 };

/* A stretch of a lane, as the fold reports it. */
struct stretch {
	uint64_t began, ended, blocker;
	uint32_t app;
	uint8_t occupancy, level;
	bool hogging, written;
};

/*
 * The stretches of a lane, in the order of their times, without gaps: the last ones. Numbers go on when a new
 * list begins.
 */
struct lane {
	uint32_t number;      /* instance and lane */
	struct stretch *ring; /* owned; a power of 2 */
	size_t room, first, n;
	int64_t sequence; /* the number of the first stretch kept */
};

struct bsa_crowd {
	struct lane lanes[LANES];
	size_t n_lanes, kept;
	int64_t begin; /* where sequences begin */
	bool begun;

	struct bsa_wait few[CROWD_FEW]; /* the wait in hand, as long as it has no more stretches */
	size_t n_few;                   /* CROWD_FEW + 1: it has */
	struct bsa_wait last;           /* its last stretch */
	bool running;
	/* neighbouring stretches of it that are stretches of a lane, too: from the first one's begin to the
	 * last one's end */
	struct bsa_wait run;
	struct lane *lane; /* borrowed: theirs */
	int64_t from, to;  /* their sequences */
};

struct bsa_crowd *bsa_crowd_new(void)
{
	return calloc(1, sizeof(struct bsa_crowd));
}

struct bsa_crowd *bsa_crowd_free(struct bsa_crowd *c)
{
	for (size_t i = 0; c && i < c->n_lanes; i++)
		free(c->lanes[i].ring);
	free(c);
	return NULL;
}

uint8_t bsa_crowd_cause(uint8_t kind, uint32_t app, uint8_t level, uint8_t occupancy, uint32_t held_app,
                        uint8_t held_level, bool hogging)
{
	if (occupancy == BSA_UNKNOWN)
		return BSA_CAUSE_UNKNOWN;
	if (occupancy == BSA_IDLE)
		return BSA_HANDOVER;
	if (kind == BSA_WAIT_PREEMPTED)
		return BSA_CAUSE_PREEMPTED;
	if (!app || !held_app)
		return BSA_CAUSE_UNKNOWN;
	if (app != held_app)
		return hogging ? BSA_HOGGED : BSA_CROWDED_OUT;
	if (level == LEVEL_UNKNOWN || held_level == LEVEL_UNKNOWN)
		return BSA_CAUSE_UNKNOWN;
	return held_level < level ? BSA_INVERSION : BSA_QUEUED_BEHIND;
}

/* ---- rows ---- */

static void write_wait(struct bsa_store *s, const struct bsa_wait *w)
{
	int64_t began = sql_time(s->offset, w->began);

	ROW(s, wait, .id = NOTHING, .execution_id = sql_id(w->execution), .began = began,
	    .dur_ns = sql_minus(sql_time(s->offset, w->ended), began), .blocker_id = sql_id(w->blocker),
	    .blocker_app_id = sql_id(w->blocker_app),
	    .bits = PACK(wait, .kind = w->kind, .lane = w->lane, .occupancy = w->occupancy, .cause = w->cause,
	                 .open = w->open));
}

static struct stretch *stretch_at(const struct lane *l, size_t i)
{
	assert(i < l->n);
	return &l->ring[(l->first + i) & (l->room - 1)];
}

static int64_t id_of(const struct lane *l, int64_t sequence)
{
	return (int64_t)l->number << SEQUENCE_BITS | sequence;
}

static void crowd_end_run(struct bsa_store *s)
{
	struct bsa_crowd *c = s->crowd;
	const struct bsa_wait *w = &c->run;
	int64_t began = sql_time(s->offset, w->began);

	if (!c->running)
		return;
	assert(c->lane->sequence <= c->from && c->from <= c->to); /* the lane still keeps all stretches of the run */
	c->running = false;
	for (int64_t i = c->from; i <= c->to; i++) {
		struct stretch *t = stretch_at(c->lane, (size_t)(i - c->lane->sequence));
		int64_t from = sql_time(s->offset, t->began);

		if (t->written)
			continue;
		t->written = true;
		STATEMENT_ROW(s, occupancy, .id = id_of(c->lane, i), .began = from,
		              .dur_ns = sql_minus(sql_time(s->offset, t->ended), from), .occupancy = t->occupancy,
		              .blocker_id = sql_id(t->blocker), .blocker_app_id = sql_id(t->app), .level = t->level,
		              .hogging = t->hogging);
	}
	ROW(s, wait_run, .id = NOTHING, .execution_id = sql_id(w->execution), .began = began,
	    .dur_ns = sql_minus(sql_time(s->offset, w->ended), began), .first_id = id_of(c->lane, c->from),
	    .last_id = id_of(c->lane, c->to), .app_id = sql_id(w->app),
	    .run_bits = PACK(wait_run, .run_kind = w->kind, .run_lane = w->lane, .run_level = w->level,
	                     .run_open = w->open));
}

/* ---- the stretches of lanes ---- */

/* Sequences of an import into a database that is there begin behind those that are in it. */
static int64_t first_sequence(struct bsa_store *s)
{
	cleanup_stmt sqlite3_stmt *q = NULL;

	if (!s->crowd->begun && s->append) {
		q = bsa_store_prepare(s, "SELECT coalesce(max(id & 8796093022207), 0) FROM stored_occupancy");
		s->crowd->begin = q && bsa_store_step(s, q) ? sqlite3_column_int64(q, 0) : 0;
	}
	s->crowd->begun = true;
	return s->crowd->begin + 1;
}

/* NULL: the lane is not kept; if @make, too many lanes are. */
static struct lane *lane_of(struct bsa_store *s, uint16_t instance, uint8_t lane, bool make)
{
	struct bsa_crowd *c = s->crowd;
	uint32_t number = (uint32_t)instance << LANE_BITS | lane;

	for (size_t i = 0; i < c->n_lanes; i++)
		if (c->lanes[i].number == number)
			return &c->lanes[i];
	if (!make || c->n_lanes == LANES)
		return NULL;
	c->lanes[c->n_lanes] = (struct lane){ .number = number, .sequence = first_sequence(s) };
	return &c->lanes[c->n_lanes++];
}

static void lane_forget(struct bsa_crowd *c, struct lane *l, size_t n)
{
	assert(n <= l->n && l->n <= c->kept);
	l->first = l->room ? (l->first + n) & (l->room - 1) : 0;
	l->n -= n;
	l->sequence += (int64_t)n;
	c->kept -= n;
}

static void lane_append(struct bsa_crowd *c, struct lane *l, const struct stretch *t)
{
	struct lane *most = l;
	struct stretch *more;
	size_t room;

	if (l->n && stretch_at(l, l->n - 1)->ended != t->began)
		lane_forget(c, l, l->n); /* a new list */

	if (c->kept >= CROWD_KEPT) { /* forget half of the lane that keeps the most stretches: of @l if several do */
		for (size_t i = 0; i < c->n_lanes; i++)
			if (c->lanes[i].n > most->n)
				most = &c->lanes[i];
		lane_forget(c, most, (most->n + 1) / 2);
	}
	if (l->n == l->room) {
		room = l->room ? 2 * l->room : 64;
		more = c->kept < CROWD_KEPT ? malloc(room * sizeof(*more)) : NULL;
		if (!more) {
			lane_forget(c, l, l->n);
			return;
		}
		for (size_t i = 0; i < l->n; i++)
			more[i] = *stretch_at(l, i);
		free(l->ring);
		l->ring = more;
		l->room = room;
		l->first = 0;
	}
	l->n++;
	c->kept++;
	*stretch_at(l, l->n - 1) = *t;
}

/* Index of the first stretch that ends after @at; l->n: no such stretch. Usually it is @hint. */
static size_t first_after(const struct lane *l, uint64_t at, size_t hint)
{
	size_t from = 0, to = l->n;

	if (hint < l->n && stretch_at(l, hint)->ended > at && (!hint || stretch_at(l, hint - 1)->ended <= at))
		return hint;
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (stretch_at(l, middle)->ended <= at)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/*
 * The sequence of the stretch that @w is, or is part of; -1: it is none that is kept. @likely: which one it
 * may be, as a run goes through stretches one after the other.
 */
static int64_t sequence_of(const struct lane *l, const struct bsa_wait *w, int64_t likely)
{
	size_t from = first_after(l, w->began, likely < l->sequence ? SIZE_MAX : (size_t)(likely - l->sequence));
	const struct stretch *t;

	if (from == l->n)
		return -1;
	t = stretch_at(l, from);
	if (t->began > w->began || t->ended < w->ended || t->blocker != w->blocker || t->occupancy != w->occupancy ||
	    bsa_crowd_cause(w->kind, w->app, w->level, t->occupancy, t->app, t->level, t->hogging) != w->cause)
		return -1;
	return l->sequence + (int64_t)from;
}

/* ---- waits ---- */

/* A stretch of a wait that has many. */
static void add_to_run(struct bsa_store *s, const struct bsa_wait *w)
{
	struct bsa_crowd *c = s->crowd;
	struct lane *l = lane_of(s, w->instance, w->lane, false);
	int64_t sequence = l ? sequence_of(l, w, c->to + 1) : -1;

	/* @sequence follows the last stretch of the run where the wait covers both without a hole. */
	if (!c->running || c->run.ended != w->began || sequence != c->to + 1 ||
	    stretch_at(c->lane, (size_t)(sequence - c->lane->sequence))->began != w->began)
		crowd_end_run(s);
	if (sequence < 0) {
		write_wait(s, w);
		return;
	}
	if (!c->running) {
		c->running = true;
		c->run = *w;
		c->lane = l;
		c->from = sequence;
	}
	c->to = sequence;
	c->run.ended = w->ended;
}

/* The wait in hand is over. */
static void end_wait(struct bsa_store *s)
{
	struct bsa_crowd *c = s->crowd;

	crowd_end_run(s);
	for (size_t i = 0; i < c->n_few && c->n_few <= CROWD_FEW; i++)
		write_wait(s, &c->few[i]);
	c->n_few = 0;
}

void bsa_crowd_occupied(struct bsa_store *s, const struct bsa_occupied *o)
{
	struct lane *l = lane_of(s, o->instance, o->lane, true);
	uint64_t last = l && l->n ? stretch_at(l, l->n - 1)->ended : BSA_NEVER;

	end_wait(s); /* the wait in hand is complete; the stretches that it refers to may be dropped now */
	if (!l)
		return;
	if (last < o->began) /* between two reported stretches the lane is idle */
		lane_append(s->crowd, l, &(struct stretch){ .began = last, .ended = o->began, .occupancy = BSA_IDLE });
	lane_append(
		s->crowd, l,
		&(struct stretch){ o->began, o->ended, o->blocker, o->app, o->occupancy, o->level, o->hogging, false });
}

void bsa_crowd_wait(struct bsa_store *s, const struct bsa_wait *w)
{
	struct bsa_crowd *c = s->crowd;
	const struct bsa_wait *last = &c->last;

	if (c->n_few && (last->execution != w->execution || last->ended != w->began || last->kind != w->kind ||
	                 last->lane != w->lane || last->open != w->open))
		end_wait(s); /* @w does not go on with it */
	c->last = *w;
	if (c->n_few < CROWD_FEW) {
		c->few[c->n_few++] = *w;
		return;
	}
	for (size_t i = 0; i < CROWD_FEW && c->n_few == CROWD_FEW; i++)
		add_to_run(s, &c->few[i]);
	c->n_few = CROWD_FEW + 1;
	add_to_run(s, w);
}

void bsa_crowd_finish(struct bsa_store *s)
{
	struct bsa_crowd *c = s->crowd;

	end_wait(s);
	for (size_t i = 0; i < c->n_lanes; i++)
		lane_forget(c, &c->lanes[i], c->lanes[i].n);
}
