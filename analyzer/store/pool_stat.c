/*
 * pool_stat.c -- adds up the mappings of pools when all of them are stored.
 *
 * One scan of stored_mapping, which may have millions of rows. Percentiles and the peak need an order: the
 * values and the times go through three external sorts (sort.h), so memory stays bounded.
 */
#include "store/pool_stat.h"

#include "bsa/err.h"
#include "store/numbers.h"
#include "store/own.h"
#include "store/sort.h"

#include <errno.h>
#include <string.h>

/* One more of each: numbers without a name. */
enum { OWNERS = LABEL_owner_process + 2, KINDS = LABEL_pool_kind_device + 2, GROUPS = OWNERS * KINDS };

/* The values of a group as they come out of a sort. */
struct ranked {
	uint64_t n, seen;
	int64_t p50, p99;
};

struct pool_group {
	uint64_t n, failed, never_unmapped;
	__int128 bytes, took; /* sums */
	int64_t largest;      /* NOTHING: no size is known */
	bool bytes_known;
	struct ranked tooks, lives;
};

struct pool_stat {
	struct bsa_store *s;
	struct bsa_sort *took, *lived; /* key: the value; id: the group */
	struct bsa_sort *steps;        /* key: the time; id: the bytes, times 2, plus 1 where the pool is unmapped */
	struct pool_group groups[GROUPS];
};

static void pool_stat_fini(struct pool_stat *t)
{
	bsa_sort_free(t->took);
	bsa_sort_free(t->lived);
	bsa_sort_free(t->steps);
}

/* Unsigned numbers in the order of signed ones. */
static uint64_t key_of(int64_t v)
{
	return (uint64_t)v ^ UINT64_C(1) << 63;
}

static int64_t value_of(uint64_t key)
{
	return (int64_t)(key ^ UINT64_C(1) << 63);
}

static int64_t at_most(__int128 v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* ---- one mapping ---- */

enum { COLUMN_OWNER, COLUMN_KIND, COLUMN_BYTES, COLUMN_MAPPED, COLUMN_UNMAPPED, COLUMN_TOOK, COLUMN_STATUS };

#define COLUMNS "owner, kind, bytes, mapped, unmapped, took_ns, status"

static void sort_value(struct pool_stat *t, struct bsa_sort *sort, uint64_t key, uint64_t id)
{
	if (!t->s->code && bsa_sort_add(sort, (struct bsa_sort_pair){ key, id }))
		bsa_store_fail(t->s, BSA_E_ENV, "cannot write a scratch file beside %s: %s", t->s->file.output,
		               strerror(errno));
}

/* @value is NOTHING or counts. */
static void rank_value(struct pool_stat *t, struct bsa_sort *sort, struct ranked *of, int64_t value, size_t group)
{
	if (value == NOTHING)
		return;
	of->n++;
	sort_value(t, sort, key_of(value), group);
}

/* ---- all of them ---- */

/* The nearest rank, as percentile() of queries has it. */
static uint64_t pool_rank_of(uint64_t n, unsigned percent)
{
	return (uint64_t)(((unsigned __int128)n * percent + 99) / 100);
}

static int next_pair(struct pool_stat *t, struct bsa_sort *sort, struct bsa_sort_pair *ret)
{
	if (!bsa_sort_next(sort, ret))
		return 0;
	return bsa_store_fail(t->s, BSA_E_ENV, "cannot read a scratch file beside %s: %s", t->s->file.output,
	                      strerror(errno));
}

static int take_ranks(struct pool_stat *t, struct bsa_sort *sort, struct ranked *(*of)(struct pool_group *))
{
	struct bsa_sort_pair pair;

	for (size_t left = bsa_sort_n(sort); left && !next_pair(t, sort, &pair); left--) {
		struct ranked *r = of(&t->groups[pair.id]);

		r->seen++;
		if (r->seen == pool_rank_of(r->n, 50))
			r->p50 = value_of(pair.key);
		if (r->seen == pool_rank_of(r->n, 99))
			r->p99 = value_of(pair.key);
	}
	return t->s->code;
}

static struct ranked *tooks_of(struct pool_group *g)
{
	return &g->tooks;
}

static struct ranked *lives_of(struct pool_group *g)
{
	return &g->lives;
}

static void write_groups(struct pool_stat *t)
{
	for (size_t i = 0; i < GROUPS; i++) {
		const struct pool_group *g = &t->groups[i];
		size_t owner = i / KINDS, kind = i % KINDS;

		if (!g->n)
			continue;
		STATEMENT_ROW(t->s, pool_stat, .owner = owner == OWNERS - 1 ? NOTHING : (int64_t)owner,
		              .kind = kind == KINDS - 1 ? NOTHING : (int64_t)kind, .n = sql_count(g->n),
		              .failed = sql_count(g->failed), .never_unmapped = sql_count(g->never_unmapped),
		              .bytes = g->bytes_known ? at_most(g->bytes) : NOTHING,
		              .largest = g->bytes_known ? g->largest : NOTHING,
		              .took_ns = g->tooks.n ? at_most(g->took) : NOTHING,
		              .took_p50_ns = g->tooks.n ? g->tooks.p50 : NOTHING,
		              .took_p99_ns = g->tooks.n ? g->tooks.p99 : NOTHING,
		              .lived_p50_ns = g->lives.n ? g->lives.p50 : NOTHING);
	}
}

/* The bytes mapped from the time @at on. */
struct level {
	__int128 bytes;
	int64_t pools, at; /* at NOTHING: no step has been taken */
};

static void raise_peak(struct level *peak, const struct level *level)
{
	if (level->at != NOTHING && (peak->at == NOTHING || level->bytes > peak->bytes))
		*peak = *level;
}

/* The level after all steps of one time: steps at the same time have no order. */
static void write_peak(struct pool_stat *t)
{
	struct level level = { .at = NOTHING }, peak = { .at = NOTHING };
	struct bsa_sort_pair pair;

	for (size_t left = bsa_sort_n(t->steps); left; left--) {
		__int128 bytes;

		if (next_pair(t, t->steps, &pair))
			return;
		if (level.at != value_of(pair.key))
			raise_peak(&peak, &level);
		bytes = pair.id >> 1;
		level = (struct level){ .bytes = level.bytes + (pair.id & 1 ? -bytes : bytes),
			                .pools = level.pools + (pair.id & 1 ? -1 : 1),
			                .at = value_of(pair.key) };
	}
	raise_peak(&peak, &level);
	if (peak.at != NOTHING)
		STATEMENT_ROW(t->s, pool_peak, .bytes = at_most(peak.bytes), .pools = peak.pools, .at = peak.at);
}

int bsa_pool_stat_run(struct bsa_store *s)
{
	__attribute__((cleanup(pool_stat_fini))) struct pool_stat t = { 0 };
	cleanup_stmt sqlite3_stmt *q = NULL;

	if (s->code)
		return s->code;
	t.s = s;
	t.took = bsa_sort_new(&s->file);
	t.lived = bsa_sort_new(&s->file);
	t.steps = bsa_sort_new(&s->file);
	if (!t.took || !t.lived || !t.steps)
		return bsa_store_fail(s, BSA_E_ENV, "no memory");
	if (bsa_store_run(s, "DELETE FROM stored_pool_stat; DELETE FROM pool_peak"))
		return s->code;

	q = bsa_store_prepare(s, "SELECT " COLUMNS " FROM stored_mapping WHERE mapped IS NOT NULL");
	while (q && bsa_store_step(s, q)) {
		int64_t bytes = column_or_nothing(q, COLUMN_BYTES), took = column_or_nothing(q, COLUMN_TOOK);
		int64_t mapped = column_or_nothing(q, COLUMN_MAPPED), unmapped = column_or_nothing(q, COLUMN_UNMAPPED);
		int64_t owner = column_or_nothing(q, COLUMN_OWNER), kind = column_or_nothing(q, COLUMN_KIND);
		bool worked = column_or_nothing(q, COLUMN_STATUS) == LABEL_status_NONE;
		struct pool_group *g;
		size_t at;

		owner = owner < 0 || owner >= OWNERS ? OWNERS - 1 : owner;
		kind = kind < 0 || kind >= KINDS ? KINDS - 1 : kind;
		at = (size_t)(owner * KINDS + kind);
		g = &t.groups[at];
		g->n++;
		g->failed += !worked;
		g->never_unmapped += worked && unmapped == NOTHING;
		if (bytes != NOTHING) {
			g->bytes += bytes;
			g->largest = g->bytes_known && g->largest > bytes ? g->largest : bytes;
			g->bytes_known = true;
		}
		g->took += took == NOTHING ? 0 : took;
		rank_value(&t, t.took, &g->tooks, took, at);
		rank_value(&t, t.lived, &g->lives, sql_minus(unmapped, mapped), at);
		if (worked) {
			uint64_t id = bytes == NOTHING || bytes < 0 ? 0 : (uint64_t)bytes << 1;

			sort_value(&t, t.steps, key_of(mapped), id);
			if (unmapped != NOTHING)
				sort_value(&t, t.steps, key_of(unmapped), id | 1);
		}
	}
	if (s->code || take_ranks(&t, t.took, tooks_of) || take_ranks(&t, t.lived, lives_of))
		return s->code;
	write_groups(&t);
	write_peak(&t);
	return s->code;
}
