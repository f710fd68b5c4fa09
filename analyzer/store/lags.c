/*
 * lags.c -- joins the lags of an app in windows that follow each other to one row.
 *
 * The last run of each app is kept in a slot, which it shares with apps that are a multiple of SLOTS away. A
 * run that ends early costs one row more, and the rows of the view stay the same.
 */
#include "store/lags.h"

#include "store/numbers.h"
#include "store/own.h"
#include "store/statement.h"

#include <assert.h>
#include <stdlib.h>

enum { SLOTS = 8192, NUMBER_BITS = 40, INSTANCES = 4096, RECENT = 2 };

#define NUMBERS_MOST ((UINT64_C(1) << (NUMBER_BITS - 1)) - 1) /* of the windows of a service, in one trace */
#define SUM_MOST (INT64_C(1) << 60)                           /* sums and lags beyond this are not added up */

/* A number of ns, and of parts of one: 0 to BSA_LAG_PARTS - 1. ns NOTHING: unknown. */
struct exact {
	int64_t ns;
	int32_t part;
};

struct run {
	struct bsa_lag row;     /* what was reported first; app 0: no run */
	uint64_t last;          /* bsa_lag_window.number */
	struct exact lag, most; /* less the sum of each window */
};

/* A window that has a row only if a run refers to it. */
struct recent {
	struct bsa_lag_window window;
	unsigned trace; /* lags.trace; 0: none */
	bool written;
};

struct bsa_lags {
	struct run slots[SLOTS];
	struct recent recent[INSTANCES][RECENT]; /* of each service the last windows, by their number */
	unsigned trace;                          /* traces so far, this one included */
	/* The place of each service among those with windows, from 1, so that ids are small. 0: it has none yet. */
	uint16_t places[INSTANCES], n_places;
	size_t top; /* no slot from here on ever had a run: its page may not be in memory yet */
	/* The windows of a trace have ids behind @before. -1: the ids of the database are not looked up yet. */
	int64_t before, latest;
};

struct bsa_lags *bsa_lags_new(void)
{
	struct bsa_lags *l = calloc(1, sizeof(*l));

	if (l)
		l->before = -1, l->trace = 1;
	return l;
}

void bsa_lags_free(struct bsa_lags *l)
{
	free(l);
}

/* ---- numbers ---- */

static struct exact exact_of(int64_t ns, int64_t part)
{
	if (part < 0) {
		part += BSA_LAG_PARTS;
		ns--;
	}
	return (struct exact){ ns, (int32_t)part };
}

static struct exact exact_less(struct exact a, struct exact b)
{
	return exact_of(a.ns - b.ns, a.part - b.part);
}

static bool exact_is(struct exact a, struct exact b)
{
	return a.ns == b.ns && (a.ns == NOTHING || a.part == b.part);
}

/* As the view computes it: a half is rounded away from 0. */
static int64_t rounded(struct exact base, struct exact sum)
{
	int64_t ns = base.ns + sum.ns;
	int32_t part = base.part + sum.part;

	return ns + (part + BSA_LAG_PARTS / 2 - (ns + part / BSA_LAG_PARTS < 0)) / BSA_LAG_PARTS;
}

static bool is_small(int64_t ns)
{
	return ns == NOTHING || (ns < SUM_MOST && ns > -SUM_MOST);
}

/* ---- windows ---- */

static int64_t window_id(struct bsa_store *s, uint16_t instance, uint64_t number)
{
	cleanup_stmt sqlite3_stmt *q = NULL;
	struct bsa_lags *l = s->lags;
	int64_t id;

	/* When an import appends to a database, its ids follow those that are there. */
	static_assert((INT64_C(1) << NUMBER_BITS) - 1 == 1099511627775, "SQL takes the number of a window of its id");
	if (l->before < 0 && s->append)
		q = bsa_store_prepare(s, "SELECT coalesce(max(id & 1099511627775), 0) FROM stored_lag_window");
	if (l->before < 0)
		l->before = l->latest = q && bsa_store_step(s, q) ? sqlite3_column_int64(q, 0) : 0;
	id = l->before + (int64_t)number;
	l->latest = id > l->latest ? id : l->latest;
	if (!l->places[instance])
		l->places[instance] = ++l->n_places;
	return (int64_t)(l->places[instance] - 1) << NUMBER_BITS | id;
}

/* Write that window, if it is among the last ones: all earlier ones that a run can refer to were written at once. */
static void window_write(struct bsa_store *s, uint16_t instance, uint64_t number)
{
	struct recent *r = &s->lags->recent[instance][number % RECENT];
	const struct bsa_lag_window *w = &r->window;

	if (r->trace != s->lags->trace || w->number != number || r->written)
		return;
	STATEMENT_ROW(s, lag_window, .id = window_id(s, instance, number),
	              .window_began = sql_time(s->offset, w->began), .entitled_ns = sql_ns(w->entitled),
	              .sum_ns = (int64_t)w->sum, .sum_part = w->sum_part);
	r->written = true;
}

void bsa_lags_window(struct bsa_store *s, const struct bsa_lag_window *w)
{
	if (!w->number || w->number > NUMBERS_MOST || w->sum >= (uint64_t)SUM_MOST || w->instance >= INSTANCES)
		return;
	s->lags->recent[w->instance][w->number % RECENT] = (struct recent){ .window = *w, .trace = s->lags->trace };
	if (w->kept) {
		window_write(s, w->instance, w->number - 1);
		window_write(s, w->instance, w->number);
	}
}

/* ---- runs ---- */

static void write_as_reported(struct bsa_store *s, const struct bsa_lag *l)
{
	ROW(s, lag, .window_began = sql_time(s->offset, l->window_began), .app_id = sql_id(l->app),
	    .received_ns = sql_ns(l->received), .entitled_ns = sql_ns(l->entitled), .lag_ns = sql_in_range(l->lag),
	    .most_ns = sql_in_range(l->most));
}

static void lag_end_run(struct bsa_store *s, struct run *r)
{
	if (r->row.app && r->row.first == r->last)
		write_as_reported(s, &r->row);
	else if (r->row.app)
		ROW(s, lag_run, .id = NOTHING, .app_id = sql_id(r->row.app),
		    .first_id = window_id(s, r->row.instance, r->row.first),
		    .last_id = window_id(s, r->row.instance, r->last), .lag_ns = r->lag.ns, .lag_part = r->lag.part,
		    .most_ns = r->most.ns, .most_part = r->most.part);
	r->row.app = 0;
}

static bool run_begin(struct run *ret, const struct bsa_lag *l)
{
	int64_t low = sql_in_range(l->lag), most = sql_in_range(l->most);
	struct exact sum = { (int64_t)l->sum, l->sum_part }, unknown = { .ns = NOTHING };

	if (!l->app || l->instance >= INSTANCES || !l->last || l->first > l->last || l->last > NUMBERS_MOST ||
	    l->sum >= (uint64_t)SUM_MOST || !is_small(low) || !is_small(most))
		return false;
	*ret = (struct run){
		.row = *l,
		.last = l->last,
		.lag = low == NOTHING ? unknown : exact_less(exact_of(low, l->lag_part), sum),
		.most = most == NOTHING ? unknown : exact_less(exact_of(most, l->most_part), sum),
	};
	return (low == NOTHING || rounded(ret->lag, sum) == low) &&
	       (most == NOTHING || rounded(ret->most, sum) == most);
}

static bool run_goes_on(const struct run *r, const struct run *next)
{
	return r->row.app == next->row.app && r->row.instance == next->row.instance && r->last + 1 == next->row.first &&
	       exact_is(r->lag, next->lag) && exact_is(r->most, next->most);
}

void bsa_lags_add(struct bsa_store *s, const struct bsa_lag *lag)
{
	size_t slot = lag->app % SLOTS;
	struct run *r = &s->lags->slots[slot], next;

	if (!run_begin(&next, lag)) {
		if (r->row.app == lag->app)
			lag_end_run(s, r);
		write_as_reported(s, lag);
	} else if (run_goes_on(r, &next)) {
		window_write(s, lag->instance, r->last);
		window_write(s, lag->instance, next.row.first);
		r->last = next.last;
	} else {
		lag_end_run(s, r);
		*r = next;
		if (s->lags->top <= slot)
			s->lags->top = slot + 1;
	}
}

void bsa_lags_finish(struct bsa_store *s)
{
	struct bsa_lags *l = s->lags;

	for (size_t i = 0; i < l->top; i++)
		lag_end_run(s, &l->slots[i]);
	l->before = l->before < 0 ? -1 : l->latest; /* the windows of another trace have numbers from 1 again */
	l->trace++;
}
