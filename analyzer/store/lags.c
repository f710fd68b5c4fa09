/*
 * lags.c -- joins the lags of an app in windows that follow each other to one row.
 *
 * The last run of each app is kept in a slot, which it shares with apps that are a multiple of SLOTS away. A
 * run goes on as long as each window of its chain has a row of its app. A run that ends early costs one row more,
 * and the rows of the view stay the same.
 */
#include "store/lags.h"

#include "store/numbers.h"
#include "store/own.h"
#include "store/statement.h"

#include <assert.h>
#include <stdlib.h>

enum { SLOTS = 8192, CHAINS = 16, CHAIN_SHIFT = 40 };

#define SUM_MOST (INT64_C(1) << 60) /* sums and lags beyond this are not added up */

/* A number of ns, and of parts of one: 0 to BSA_LAG_PARTS - 1. ns NOTHING: unknown. */
struct exact {
	int64_t ns;
	int32_t part;
};

struct link {
	int64_t id, window; /* window NOTHING: none */
	struct exact entitled, sum;
	bool written;
};

struct chain {
	uint64_t used; /* number of the row that used it last */
	uint32_t generation;
	struct link head, before; /* the last window, and the one before it */
};

struct run {
	int64_t first, last; /* stored_lag_window.id */
	struct bsa_lag row;  /* the row of the first window */
	int64_t window;      /* its begin */
	struct exact lag, most;
	uint32_t app; /* 0: no run */
	uint32_t generation;
	uint8_t chain;
};

struct lags {
	struct run slots[SLOTS];
	size_t top; /* no slot from here on ever had a run: its page may not be in memory yet */
	struct chain chains[CHAINS];
	uint64_t n;
	int64_t begin; /* the highest number of a window that was there before; -1: not looked up yet */
};

struct lags *bsa_lags_new(void)
{
	struct lags *l = calloc(1, sizeof(*l));

	if (l)
		l->begin = -1;
	for (int i = 0; l && i < CHAINS; i++)
		l->chains[i].head.window = l->chains[i].before.window = NOTHING;
	return l;
}

void bsa_lags_free(struct lags *l)
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

/* As the view computes it. */
static int64_t rounded(struct exact base, struct exact sum)
{
	return base.ns == NOTHING ? NOTHING
	                          : base.ns + sum.ns + (base.part + sum.part + BSA_LAG_PARTS / 2) / BSA_LAG_PARTS;
}

static bool is_small(int64_t ns)
{
	return ns == NOTHING || (ns < SUM_MOST && ns > -SUM_MOST);
}

/* ---- rows ---- */

static void write_as_reported(struct bsa_store *s, const struct bsa_lag *l, int64_t window)
{
	ROW(s, lag, .window_began = window, .app_id = sql_id(l->app), .received_ns = sql_ns(l->received),
	    .entitled_ns = sql_ns(l->entitled), .lag_ns = sql_in_range(l->lag), .most_ns = sql_in_range(l->most));
}

static void write_link(struct bsa_store *s, struct link *at)
{
	if (!at->written)
		STATEMENT_ROW(s, lag_window, .id = at->id, .window_began = at->window,
		              .entitled_ns = rounded((struct exact){ 0 }, at->entitled), .sum_ns = at->sum.ns,
		              .sum_part = at->sum.part);
	at->written = true;
}

static void lag_end_run(struct bsa_store *s, struct run *r)
{
	if (r->app && r->first == r->last)
		write_as_reported(s, &r->row, r->window);
	else if (r->app)
		ROW(s, lag_run, .id = NOTHING, .app_id = sql_id(r->app), .first_id = r->first, .last_id = r->last,
		    .lag_ns = r->lag.ns, .lag_part = r->lag.part, .most_ns = r->most.ns, .most_part = r->most.part);
	r->app = 0;
}

/* ---- chains ---- */

/* When an import appends to a database, its ids follow those that are there. */
static int64_t first_number(struct bsa_store *s, struct lags *l)
{
	cleanup_stmt sqlite3_stmt *q = NULL;

	static_assert((INT64_C(1) << CHAIN_SHIFT) - 1 == 1099511627775, "SQL takes the number within the chain");
	if (l->begin < 0 && s->append)
		q = bsa_store_prepare(s, "SELECT coalesce(max(id & 1099511627775), 0) FROM stored_lag_window");
	if (l->begin < 0)
		l->begin = q && bsa_store_step(s, q) ? sqlite3_column_int64(q, 0) : 0;
	return l->begin + 1;
}

static struct link link_after(const struct chain *c, int64_t window, struct exact entitled)
{
	int64_t ns = c->head.sum.ns + entitled.ns;
	int32_t part = c->head.sum.part + entitled.part;

	assert((c->head.id + 1) >> CHAIN_SHIFT == c->head.id >> CHAIN_SHIFT); /* else ids of two chains are the same */
	return (struct link){ .id = c->head.id + 1,
		              .window = window,
		              .entitled = entitled,
		              .sum = { ns + part / BSA_LAG_PARTS, part % BSA_LAG_PARTS } };
}

static void chain_append(struct chain *c, struct link at)
{
	c->before = c->head;
	c->head = at;
}

static bool is_in(const struct link *at, int64_t window, struct exact entitled)
{
	return at->window == window && at->entitled.ns == entitled.ns && at->entitled.part == entitled.part;
}

/*
 * The chain to begin a run in: one that has this window, or else the last used one that can have it next, or
 * else a new one.
 */
static struct chain *chain_for(struct bsa_store *s, struct lags *l, int64_t window, struct exact entitled)
{
	struct chain *next = NULL, *oldest = &l->chains[0];

	for (struct chain *c = l->chains; c < l->chains + CHAINS; c++) {
		if (is_in(&c->head, window, entitled))
			return c;
		if (c->head.window != NOTHING && c->head.window < window && is_small(c->head.sum.ns) &&
		    (!next || c->used > next->used))
			next = c;
		if (c->used < oldest->used)
			oldest = c;
	}
	if (next) {
		chain_append(next, link_after(next, window, entitled));
		return next;
	}
	oldest->generation++;
	oldest->before.window = NOTHING;
	oldest->head = (struct link){ .id = oldest->head.id ? oldest->head.id + 1
		                                            : (oldest - l->chains) << CHAIN_SHIFT | first_number(s, l),
		                      .window = window,
		                      .entitled = entitled };
	return oldest;
}

/* ---- runs ---- */

/* Does the next window of the chain, or the one that it has already, give what @lag has? Then the run goes on. */
static bool run_goes_on(struct bsa_store *s, struct run *r, const struct bsa_lag *lag, int64_t window,
                        struct exact entitled)
{
	struct chain *c = &s->lags->chains[r->chain];
	bool is_head = r->last + 1 == c->head.id && is_in(&c->head, window, entitled);
	struct link at = is_head ? c->head : link_after(c, window, entitled);

	if (r->app != lag->app || r->generation != c->generation)
		return false;
	if (!is_head && (r->last != c->head.id || window <= c->head.window || !is_small(at.sum.ns)))
		return false;
	if (rounded(r->lag, at.sum) != sql_in_range(lag->lag) || rounded(r->most, at.sum) != sql_in_range(lag->most))
		return false;
	if (!is_head)
		chain_append(c, at);
	if (r->first == r->last) {
		assert(c->before.id == r->first);
		write_link(s, &c->before);
	}
	write_link(s, &c->head);
	r->last = c->head.id;
	c->used = ++s->lags->n;
	return true;
}

void bsa_lags_add(struct bsa_store *s, const struct bsa_lag *lag)
{
	struct run *r = &s->lags->slots[lag->app % SLOTS];
	int64_t window = sql_time(s->offset, lag->window_began), low = sql_in_range(lag->lag),
		most = sql_in_range(lag->most);
	struct exact unknown = { .ns = NOTHING };
	struct chain *c;

	if (lag->app && !lag->received && !lag->in_parts && window != NOTHING && lag->entitled < (uint64_t)SUM_MOST &&
	    is_small(low) && is_small(most)) {
		struct exact entitled = exact_of((int64_t)lag->entitled, lag->entitled_part);

		if (run_goes_on(s, r, lag, window, entitled))
			return;
		lag_end_run(s, r);

		c = chain_for(s, s->lags, window, entitled);
		c->used = ++s->lags->n;
		if (s->lags->top <= lag->app % SLOTS)
			s->lags->top = lag->app % SLOTS + 1;
		*r = (struct run){
			.first = c->head.id,
			.last = c->head.id,
			.row = *lag,
			.window = window,
			.lag = low == NOTHING ? unknown : exact_less(exact_of(low, lag->lag_part), c->head.sum),
			.most = most == NOTHING ? unknown : exact_less(exact_of(most, lag->most_part), c->head.sum),
			.app = lag->app,
			.generation = c->generation,
			.chain = (uint8_t)(c - s->lags->chains),
		};
		return;
	}
	if (r->app == lag->app)
		lag_end_run(s, r);
	write_as_reported(s, lag, window);
}

void bsa_lags_finish(struct bsa_store *s)
{
	struct lags *l = s->lags;

	for (size_t i = 0; i < l->top; i++)
		lag_end_run(s, &l->slots[i]);
	for (int i = 0; i < CHAINS; i++) { /* times of two clocks cannot be compared: no chain may go on */
		l->chains[i].generation++;
		l->chains[i].head.window = l->chains[i].before.window = NOTHING;
	}
}
