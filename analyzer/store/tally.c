/* tally.c -- counts executions by kind and by time, and keeps the worst ones. */
#include "store/tally.h"

#include "base/index.h"
#include "base/vector.h"
#include "store/numbers.h"
#include "store/own.h"

#include <stdlib.h>
#include <string.h>

enum {
	IDS_OF_A_BLOCK = 1024,
	KINDS_FEW = 4096,      /* limit of kinds that may have one execution each; */
	KINDS_MAX = 1 << 15,   /* beyond that, up to this number, */
	EXECUTIONS_OF_EACH = 8 /* each has so many on average */
};

/* ---- items that are found by their first bytes ---- */

struct set {
	size_t item, key; /* bytes */
	char *items;      /* owned */
	size_t n, room;
	size_t last;            /* the last item found: mostly the next one, too */
	struct bsa_index index; /* of items */
};

static void *item_at(const struct set *s, size_t i)
{
	return s->items + i * s->item;
}

static uint64_t key_number(const struct set *s, const void *key)
{
	uint64_t number = 0, word;

	for (size_t i = 0; i < s->key; i += sizeof(word)) { /* keys are whole words */
		memcpy(&word, (const char *)key + i, sizeof(word));
		number = bsa_mixed(number) ^ word;
	}
	return number;
}

/* The item with the key of @like, or NULL. */
static void *set_find(struct set *s, const void *like)
{
	uint64_t number;
	size_t at;

	if (s->n && !memcmp(item_at(s, s->last), like, s->key))
		return item_at(s, s->last);
	number = key_number(s, like);
	for (uint32_t i = bsa_index_find(&s->index, number, &at); i != BSA_INDEX_NONE;
	     i = bsa_index_next(&s->index, number, &at)) {
		if (memcmp(item_at(s, i), like, s->key) != 0)
			continue;
		s->last = i;
		return item_at(s, i);
	}
	return NULL;
}

/* Like set_find; a missing item is made as a copy of @like. NULL: no memory. */
static void *set_take(struct set *s, const void *like)
{
	void *item = set_find(s, like);

	if (item)
		return item;
	if (s->n == s->room) {
		size_t room = bsa_room_doubled(s->room, s->n + 1, 16);
		char *bigger = reallocarray(s->items, room, s->item);

		if (!bigger)
			return NULL;
		s->items = bigger;
		s->room = room;
	}
	if (!bsa_index_add(&s->index, key_number(s, like), (uint32_t)s->n))
		return NULL;
	memcpy(item_at(s, s->n), like, s->item);
	s->last = s->n++;
	return item_at(s, s->last);
}

static void set_fini(struct set *s)
{
	free(s->items);
	bsa_index_fini(&s->index);
}

/* ---- what is counted ---- */

/* No holes: the first bytes are a key. */
struct kind {
	uint32_t app, model;
	uint8_t priority, path, status, miss, quality, sides, hole[2];
	uint64_t n, deadlines, slots_known, cold_known;
	int64_t worst;                 /* lateness; NOTHING if no deadline was missed */
	int64_t cold, lookups, misses; /* NOTHING: of none it is known */
};

struct block {
	uint64_t number;
	int64_t first, last, began, ended; /* ids; times */
};

/* An execution, and by how much it is the worst. */
struct worst {
	int64_t id, ns; /* id 0: no execution yet */
	bool passed;    /* submitted after its deadline: any other is worse */
};

struct bsa_tally {
	struct set kinds, blocks;
	struct worst latest, slowest;
	uint64_t executions, joined;
};

struct bsa_tally *bsa_tally_new(void)
{
	struct bsa_tally *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->kinds.item = sizeof(struct kind);
	t->kinds.key = offsetof(struct kind, n);
	t->blocks.item = sizeof(struct block);
	t->blocks.key = offsetof(struct block, first);
	return t;
}

struct bsa_tally *bsa_tally_free(struct bsa_tally *t)
{
	if (!t)
		return NULL;
	set_fini(&t->kinds);
	set_fini(&t->blocks);
	free(t);
	return NULL;
}

static void add_known(int64_t *sum, int64_t n)
{
	*sum = *sum == NOTHING ? n : *sum + n;
}

static int add_kind(struct bsa_tally *t, const struct bsa_execution *x)
{
	struct kind like = {
		.app = x->app,
		.model = x->model,
		.priority = x->priority,
		.path = x->path,
		.status = x->status,
		.miss = x->miss,
		.quality = x->quality,
		.sides = x->sides,
		.worst = NOTHING,
		.cold = NOTHING,
		.lookups = NOTHING,
		.misses = NOTHING,
	};
	struct kind *k;
	bool known, full;

	t->executions++;
	full = t->kinds.n >= KINDS_FEW && (t->kinds.n >= KINDS_MAX || t->kinds.n >= t->executions / EXECUTIONS_OF_EACH);
	if (full && !set_find(&t->kinds, &like)) {
		like.app = like.model = 0;
		t->joined++;
	}
	k = set_take(&t->kinds, &like);
	if (!k)
		return -1;
	k->n++;
	k->deadlines += x->deadline != 0;
	if (x->miss != BSA_MISS_NONE && sql_lateness(x->lateness) > k->worst) /* NOTHING is less than any */
		k->worst = sql_lateness(x->lateness);
	known = x->lookups != BSA_COUNT_UNKNOWN;
	if (x->cold >= 0)
		add_known(&k->cold, x->cold > 0);
	if (known)
		add_known(&k->lookups, x->lookups);
	if (x->misses != BSA_COUNT_UNKNOWN)
		add_known(&k->misses, x->misses);
	k->slots_known += known && x->cold >= 0;
	k->cold_known += known && x->cold > 0;
	return 0;
}

static int add_to_block(struct bsa_tally *t, int64_t id, const int64_t at[BSA_BOUNDARIES])
{
	struct block like = {
		.number = (uint64_t)id / IDS_OF_A_BLOCK, .first = INT64_MAX, .began = INT64_MAX, .ended = INT64_MIN
	};
	struct block *b = set_take(&t->blocks, &like);

	if (!b)
		return -1;
	b->first = id < b->first ? id : b->first;
	b->last = id > b->last ? id : b->last;
	for (unsigned i = 0; i < BSA_BOUNDARIES; i++) {
		if (at[i] == NOTHING)
			continue;
		b->began = at[i] < b->began ? at[i] : b->began;
		b->ended = at[i] > b->ended ? at[i] : b->ended;
	}
	return 0;
}

static void keep_worst(struct worst *w, struct worst other)
{
	bool worse = other.ns > w->ns || (other.ns == w->ns && other.id < w->id);

	if (!w->id || other.passed != w->passed)
		worse = !w->id || w->passed;
	if (worse)
		*w = other;
}

int bsa_tally_add(struct bsa_tally *t, const struct bsa_execution *x, const int64_t at[BSA_BOUNDARIES])
{
	int64_t id = sql_id(x->id);
	bool passed = x->deadline && x->at[BSA_SUBMITTED] != BSA_NEVER && x->deadline < x->at[BSA_SUBMITTED];

	if (x->path == BSA_PATH_PREPARE)
		return add_to_block(t, id, at);
	if (x->miss != BSA_MISS_NONE && sql_lateness(x->lateness) != NOTHING)
		keep_worst(&t->latest, (struct worst){ id, sql_lateness(x->lateness), passed });
	if (x->e2e != BSA_NEVER)
		keep_worst(&t->slowest, (struct worst){ id, sql_ns(x->e2e), false });
	return add_kind(t, x) || add_to_block(t, id, at) ? -1 : 0;
}

uint64_t bsa_tally_joined(const struct bsa_tally *t)
{
	return t->joined;
}

/* ---- into the tables ---- */

static int tally_by_number(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* @sql chooses between ?1 and the worst execution before. */
static void write_worst(struct bsa_store *s, const struct worst *w, const char *sql)
{
	cleanup_stmt sqlite3_stmt *q = w->id ? bsa_store_prepare(s, sql) : NULL;

	if (!q)
		return;
	sqlite3_bind_int64(q, 1, w->id);
	bsa_store_do(s, q);
}

int bsa_tally_write(struct bsa_store *s)
{
	struct bsa_tally *t = s->tally;

	for (size_t i = 0; i < t->kinds.n; i++) {
		const struct kind *k = item_at(&t->kinds, i);

		ROW(s, count, .app_id = sql_id(k->app), .model_id = sql_id(k->model),
		    .priority = sql_label(k->priority), .path = sql_label(k->path), .status = sql_label(k->status),
		    .miss = k->miss, .quality = k->quality, .sides = k->sides, .n = sql_count(k->n),
		    .deadlines = sql_count(k->deadlines), .worst_ns = k->worst, .cold = k->cold,
		    .slots_known = sql_count(k->slots_known), .cold_known = sql_count(k->cold_known),
		    .slot_lookups = k->lookups, .slot_misses = k->misses);
	}
	if (t->blocks.n)
		qsort(t->blocks.items, t->blocks.n, sizeof(struct block), tally_by_number);
	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct block *b = item_at(&t->blocks, i);
		bool known = b->began <= b->ended;

		ROW(s, block, .first_id = b->first, .last_id = b->last, .began = known ? b->began : NOTHING,
		    .ended = known ? b->ended : NOTHING);
	}
	bsa_batches_flush(s);
	write_worst(
		s, &t->latest,
		"REPLACE INTO meta SELECT 'latest_miss', m.execution_id FROM stored_missed m JOIN stored_unpacked x ON "
		"x.id = m.execution_id WHERE m.execution_id IN (?1, (SELECT value FROM meta WHERE key = "
		"'latest_miss')) "
		"ORDER BY coalesce(x.deadline < x.submitted, 0), m.lateness_ns DESC, m.execution_id LIMIT 1");
	write_worst(
		s, &t->slowest,
		"REPLACE INTO meta SELECT 'slowest', id FROM stored_unpacked WHERE id IN (?1, (SELECT value FROM meta "
		"WHERE key = 'slowest')) ORDER BY e2e_ns DESC, id LIMIT 1");
	return s->code;
}
