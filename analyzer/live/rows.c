/* rows.c -- sums the figures of each app and model, since the beginning and over the last seconds. */
#include "live/rows.h"

#include "base/table.h"
#include "fold/list.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static_assert((int)BSA_LIVE_CAUSES == (int)BSA_CAUSES, "there is another cause");
static_assert((int)BSA_LIVE_NAME == (int)BSA_TEXT, "names are longer");
static_assert(sizeof(((struct bsa_live_row *)0)->app) == BSA_ROWS_APP_TEXT, "a row has less room for a name");

enum {
	SLOTS = BSA_LIVE_SECONDS * 2,
	SLOT_NS = 500000000,
	PAIRS_MAX = 4096,      /* limit; beyond it, the pairs not seen for the longest are added up in one */
	SLOTTED_MAX = 512,     /* limit of pairs with slots: the others have only sums */
	NAMES_MAX = 4096,      /* apps, and models */
	TWINS_MAX = 64,        /* models of one app and name that a new one is compared with */
	LAG_SLOTS = SLOTS * 5, /* slots of 100 ms */
	LAG_NS = 100000000,
	FINE = 32,         /* buckets of an octave */
	FIRST_OCTAVE = 10, /* from 1 us on */
	OCTAVES = 31,      /* to 36 minutes */
	BUCKETS = FINE * OCTAVES
};

struct slot {
	uint64_t number; /* end-to-end times of answered executions */
	uint64_t executions, answered, missed, slot_misses, run_ns, queue_ns, by_cause[BSA_CAUSES];
	uint32_t took[BUCKETS]; /* e2e of those answered */
};

/* An app and a model, by their ids. */
struct pair {
	struct bsa_entry entry; /* app << 32 | model */
	struct bsa_link link;   /* the one that was seen the longest ago first */
	uint32_t app, model;
	uint64_t seen;
	struct bsa_live_sum sum;
	struct slot *slots; /* SLOTS of them; NULL: nothing was in the last seconds. Owned */
};

struct name {
	struct bsa_entry entry; /* id */
	struct bsa_link link;   /* the oldest first */
	uint32_t key, uid;      /* for an app: the service's key of it, and its user; BSA_LIVE_NOBODY: unknown */
	char text[BSA_TEXT];
	struct bsa_entry named;     /* for a model in bsa_rows.named: of its app and name */
	bool is_named;              /* whether it is there */
	struct bsa_model model;     /* for a model; operations 0: its properties are unknown */
	char shown[BSA_LIVE_MODEL]; /* likewise */
};

struct share {
	struct bsa_entry entry; /* app */
	struct bsa_link link;
	struct {
		uint64_t number, received, entitled;
	} windows[LAG_SLOTS];
	uint64_t received, entitled; /* sums of the parts reported so far */
	bool reported;
	bool whole; /* no part that was reported earlier can have been dropped */
};

struct names {
	struct bsa_table table;
	struct bsa_link list;
};

struct bsa_rows {
	struct bsa_table pairs, shares;
	struct bsa_link by_seen, by_share;
	struct names apps, models;
	struct bsa_table named; /* models whose properties are known, TWINS_MAX of one app and name at most */
	size_t n_slotted;
	uint64_t until, began;
	uint64_t share_dropped; /* the highest number of an app whose reported share was dropped */
	uint64_t lagged;        /* the last window of 100 ms that was reported, plus 1 */
	struct bsa_live_sum others;
	uint64_t counted[BUCKETS], n_counted; /* by how long after their last events */
};

static bool names_init(struct names *n)
{
	bsa_list_init(&n->list);
	return !bsa_table_init(&n->table);
}

struct bsa_rows *bsa_rows_new(void)
{
	struct bsa_rows *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	bsa_list_init(&r->by_seen);
	bsa_list_init(&r->by_share);
	r->began = BSA_NEVER;
	return names_init(&r->apps) && names_init(&r->models) && !bsa_table_init(&r->named) &&
	                       !bsa_table_init(&r->pairs) && !bsa_table_init(&r->shares)
	               ? r
	               : bsa_rows_free(r);
}

static void names_fini(struct names *n)
{
	struct bsa_link *l;

	while (n->list.next && (l = bsa_list_first(&n->list))) {
		bsa_list_remove(l);
		free(BSA_LINKED(l, struct name, link));
	}
	bsa_table_fini(&n->table);
}

static void drop_pair(struct bsa_rows *r, struct pair *p)
{
	bsa_table_remove(&r->pairs, &p->entry);
	bsa_list_remove(&p->link);
	assert(!p->slots || r->n_slotted > 0);
	r->n_slotted -= p->slots != NULL;
	free(p->slots);
	free(p);
}

static void drop_share(struct bsa_rows *r, struct share *s)
{
	if (s->reported && s->entry.number > r->share_dropped)
		r->share_dropped = s->entry.number;
	bsa_table_remove(&r->shares, &s->entry);
	bsa_list_remove(&s->link);
	free(s);
}

struct bsa_rows *bsa_rows_free(struct bsa_rows *r)
{
	struct bsa_link *l;

	if (!r)
		return NULL;
	while ((l = bsa_list_first(&r->by_seen)))
		drop_pair(r, BSA_LINKED(l, struct pair, link));
	while ((l = bsa_list_first(&r->by_share)))
		drop_share(r, BSA_LINKED(l, struct share, link));
	names_fini(&r->apps);
	names_fini(&r->models);
	bsa_table_fini(&r->named);
	bsa_table_fini(&r->pairs);
	bsa_table_fini(&r->shares);
	free(r);
	return NULL;
}

/* ---- names ---- */

static void leave_named(struct bsa_rows *r, struct name *n)
{
	if (n->is_named)
		bsa_table_remove(&r->named, &n->named);
	n->is_named = false;
}

static int name_it(struct bsa_rows *r, struct names *names, uint32_t id, uint32_t key, uint32_t uid, const char *text)
{
	struct name *n = bsa_table_find(&names->table, id);

	if (!n && names->table.n == NAMES_MAX) { /* the oldest one is used again */
		n = BSA_LINKED(bsa_list_first(&names->list), struct name, link);
		leave_named(r, n);
		bsa_table_remove(&names->table, &n->entry);
		bsa_list_remove(&n->link);
		bsa_table_add(&names->table, &n->entry, id);
		bsa_list_add(&names->list, &n->link);
	}
	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			return -ENOMEM;
		bsa_table_add(&names->table, &n->entry, id);
		bsa_list_add(&names->list, &n->link);
	}
	n->key = key;
	n->uid = uid;
	snprintf(n->text, sizeof(n->text), "%s", text);
	return 0;
}

int bsa_rows_app(struct bsa_rows *r, const struct bsa_app *a)
{
	return name_it(r, &r->apps, a->id, a->key, a->uid_known ? a->uid : BSA_LIVE_NOBODY, a->name);
}

static uint64_t named_number(const struct bsa_model *m)
{
	return bsa_mixed_text(m->app, m->name);
}

/*
 * Different models of one app that share a name get distinct names, as in a database (schema/names.sql). But
 * there all of them are known first; here the first one keeps its name, because it was reported already. From
 * TWINS_MAX models of one name on, the others are not compared with each other, so that the time does not
 * grow with the square of their number: their digest is always shown.
 */
static void name_model_apart(struct bsa_rows *r, struct name *n)
{
	const struct bsa_model *is = &n->model;
	const struct name *same = NULL; /* the oldest one that is the same model */
	bool any_alike = false;         /* one differs in nothing but its digest */
	unsigned n_twins = 0;           /* models of the same app and name */
	char what[16] = "";

	for (struct bsa_entry *e = bsa_table_find(&r->named, named_number(is)); e; e = bsa_table_next(e)) {
		const struct name *other = BSA_LINKED(e, struct name, named);
		const struct bsa_model *m = &other->model;
		bool alike = m->operations == is->operations && m->const_bytes == is->const_bytes;

		if (m->app != is->app || strcmp(m->name, is->name) != 0)
			continue;
		n_twins++;
		any_alike |= alike;
		if (alike && (m->digest == is->digest || !m->digest || !is->digest) &&
		    (!same || other->entry.number < same->entry.number))
			same = other;
	}

	if (n_twins < TWINS_MAX) {
		bsa_table_add(&r->named, &n->named, named_number(is));
		n->is_named = true;
	}
	if (same)
		memcpy(n->shown, same->shown, sizeof(n->shown));
	if (same || !n_twins)
		return;
	if (any_alike || n_twins == TWINS_MAX)
		snprintf(what, sizeof(what), ", %08" PRIx32, is->digest);
	snprintf(n->shown, sizeof(n->shown), "%.63s (%u operations, %" PRIu64 " bytes%s)", is->name, is->operations,
	         is->const_bytes, what);
}

int bsa_rows_model(struct bsa_rows *r, const struct bsa_model *m)
{
	int failed = name_it(r, &r->models, m->id, 0, BSA_LIVE_NOBODY, m->name);
	struct name *n = failed ? NULL : bsa_table_find(&r->models.table, m->id);

	if (!n)
		return failed;
	leave_named(r, n);
	n->model = *m;
	if (!*m->name && m->number) /* as in a database (schema/names.sql) */
		snprintf(n->shown, sizeof(n->shown), "model %" PRIu32, m->number);
	else
		snprintf(n->shown, sizeof(n->shown), "%s", n->text);
	if (*m->name && m->operations)
		name_model_apart(r, n);
	return 0;
}

/* ---- pairs ---- */

static uint64_t key_of(uint32_t app, uint32_t model)
{
	return (uint64_t)app << 32 | model;
}

static struct pair *pair_of(struct bsa_rows *r, uint32_t app, uint32_t model)
{
	struct pair *p = NULL;

	if (r->by_seen.prev != &r->by_seen) { /* mostly it is the last one again */
		p = BSA_LINKED(r->by_seen.prev, struct pair, link);
		if (p->app == app && p->model == model)
			return p;
	}
	p = bsa_table_find(&r->pairs, key_of(app, model));
	if (p) {
		bsa_list_remove(&p->link);
		bsa_list_add(&r->by_seen, &p->link);
		return p;
	}
	if (r->pairs.n == PAIRS_MAX) {
		p = BSA_LINKED(bsa_list_first(&r->by_seen), struct pair, link);
		bsa_live_sum_add(&r->others, &p->sum);
		drop_pair(r, p);
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->app = app;
	p->model = model;
	bsa_table_add(&r->pairs, &p->entry, key_of(app, model));
	bsa_list_add(&r->by_seen, &p->link);
	return p;
}

/* ---- slots ---- */

static uint64_t number_of(uint64_t at)
{
	return at / SLOT_NS + 1;
}

/* Returns the slot @number. NULL: the slot is too old, or no slots are available. */
static struct slot *slot_of(struct bsa_rows *r, struct pair *p, uint64_t number)
{
	struct slot *s;

	if (!p->slots && r->n_slotted < SLOTTED_MAX) {
		p->slots = calloc(SLOTS, sizeof(*p->slots));
		r->n_slotted += p->slots != NULL;
	}
	if (!p->slots || number + SLOTS <= number_of(r->until))
		return NULL;
	s = &p->slots[number % SLOTS];
	if (s->number > number)
		return NULL;
	if (s->number < number) {
		memset(s, 0, sizeof(*s));
		s->number = number;
	}
	return s;
}

static unsigned bucket_of(uint64_t ns)
{
	unsigned octave;

	if (ns < UINT64_C(1) << FIRST_OCTAVE)
		return 0;
	octave = 63 - (unsigned)__builtin_clzll(ns);
	if (octave >= FIRST_OCTAVE + OCTAVES)
		return BUCKETS - 1;
	return (octave - FIRST_OCTAVE) * FINE + (unsigned)(ns >> (octave - 5) & (FINE - 1));
}

/* Add the time from @from to @to to the slots that it covers. */
static void spread_over_slots(struct bsa_rows *r, struct pair *p, uint64_t from, uint64_t to, size_t offset)
{
	uint64_t first = number_of(from), last = number_of(to), past = number_of(r->until);

	if (first + SLOTS <= past)
		first = past - SLOTS + 1;
	for (uint64_t n = first; n <= last && n < first + SLOTS; n++) {
		struct slot *s = slot_of(r, p, n);
		uint64_t began = (n - 1) * SLOT_NS, ended = n * SLOT_NS;

		if (s)
			*(uint64_t *)((char *)s + offset) += (to < ended ? to : ended) - (from > began ? from : began);
	}
}

static uint64_t execution_end_of(const struct bsa_execution *x)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < BSA_BOUNDARIES; i++)
		if (x->at[i] != BSA_NEVER && x->at[i] > end)
			end = x->at[i];
	return end;
}

int bsa_rows_over(struct bsa_rows *r, const struct bsa_execution *x)
{
	const uint64_t *at = x->at;
	struct pair *p;
	struct slot *s;
	uint64_t end = execution_end_of(x);

	if (x->path == BSA_PATH_PREPARE)
		return 0;
	p = pair_of(r, x->app, x->model);
	if (!p)
		return -ENOMEM;
	s = end && end >= r->began ? slot_of(r, p, number_of(end)) : NULL;
	if (!s)
		return 0;
	p->seen = number_of(end);
	s->executions++;
	s->missed += x->miss != BSA_MISS_NONE;
	s->slot_misses += x->misses != BSA_COUNT_UNKNOWN ? x->misses : 0;
	if (x->status == BSA_STATUS_NONE && x->e2e != BSA_NEVER) {
		s->answered++;
		s->took[bucket_of(x->e2e)]++;
	}

	if (at[BSA_DISPATCHED] == BSA_NEVER)
		return 0;
	if (at[BSA_ENQUEUED] != BSA_NEVER && at[BSA_ENQUEUED] < at[BSA_DISPATCHED])
		spread_over_slots(r, p, at[BSA_ENQUEUED], at[BSA_DISPATCHED], offsetof(struct slot, queue_ns));

	/* For a preempted execution, the times of its runs are unknown, but not their sum. */
	if (x->run != BSA_NEVER && at[BSA_RUN_ENDED] != BSA_NEVER && x->run <= at[BSA_RUN_ENDED])
		spread_over_slots(r, p, at[BSA_RUN_ENDED] - x->run, at[BSA_RUN_ENDED], offsetof(struct slot, run_ns));
	return 0;
}

int bsa_rows_execution(struct bsa_rows *r, const struct bsa_execution *x, unsigned cause)
{
	struct pair *p;
	struct slot *s;

	if (x->path == BSA_PATH_PREPARE)
		return 0;
	p = pair_of(r, x->app, x->model);
	if (!p)
		return -ENOMEM;
	p->sum.executions++;
	p->sum.missed += x->miss != BSA_MISS_NONE;
	p->sum.incomplete += x->quality != BSA_QUALITY_COMPLETE;
	p->sum.slot_misses += x->misses != BSA_COUNT_UNKNOWN ? x->misses : 0;
	p->sum.run_ns += x->run != BSA_NEVER ? x->run : 0;
	p->sum.queue_ns += x->queue != BSA_NEVER ? x->queue : 0;
	if (cause >= BSA_CAUSES)
		return 0;
	p->sum.by_cause[cause]++;
	s = execution_end_of(x) ? slot_of(r, p, number_of(execution_end_of(x))) : NULL;
	if (s)
		s->by_cause[cause]++;
	return 0;
}

void bsa_rows_recause(struct bsa_rows *r, uint32_t app, uint32_t model, unsigned was, unsigned is)
{
	const struct pair *p = bsa_table_find(&r->pairs, key_of(app, model));
	struct bsa_live_sum *sum = p ? (struct bsa_live_sum *)&p->sum : &r->others;

	if (was < BSA_CAUSES)
		sum->by_cause[was]--;
	if (is < BSA_CAUSES)
		sum->by_cause[is]++;
}

/* ---- shares ---- */

static struct share *share_of(struct bsa_rows *r, uint32_t app)
{
	struct share *s = bsa_table_find(&r->shares, app);

	if (s)
		return s;
	if (r->shares.n == PAIRS_MAX)
		drop_share(r, BSA_LINKED(bsa_list_first(&r->by_share), struct share, link));
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->whole = app > r->share_dropped;
	bsa_table_add(&r->shares, &s->entry, app);
	bsa_list_add(&r->by_share, &s->link);
	return s;
}

void bsa_rows_window_of(struct bsa_rows *r, const struct bsa_lag *l)
{
	struct share *s = share_of(r, l->app);
	uint64_t number = l->window_began / LAG_NS + 1;
	size_t i = number % LAG_SLOTS;

	if (!s)
		return;
	if (number > r->lagged)
		r->lagged = number;
	if (s->windows[i].number != number)
		s->windows[i].received = s->windows[i].entitled = 0;
	s->windows[i].number = number;
	s->windows[i].received += l->received;
	s->windows[i].entitled += l->entitled;
}

void bsa_rows_share(struct bsa_rows *r, const struct bsa_share *told)
{
	struct share *s = share_of(r, told->app);

	if (!s)
		return;
	s->received += told->received;
	s->entitled += told->entitled;
	s->reported = true;
}

bool bsa_rows_share_of(const struct bsa_rows *r, uint32_t app, uint64_t *ret_received, uint64_t *ret_entitled)
{
	const struct share *s = bsa_table_find(&r->shares, app);

	if (!s || !s->reported || !s->whole)
		return false;
	*ret_received = s->received;
	*ret_entitled = s->entitled;
	return true;
}

/* ---- asked ---- */

void bsa_rows_begin(struct bsa_rows *r, uint64_t at)
{
	if (r->began == BSA_NEVER)
		r->began = at;
}

void bsa_rows_advance(struct bsa_rows *r, uint64_t until)
{
	uint64_t number;
	struct bsa_link *l, *next;

	if (until <= r->until)
		return;
	number = number_of(until);
	if (number == number_of(r->until)) {
		r->until = until;
		return;
	}
	r->until = until;
	for (l = r->by_seen.next; l != &r->by_seen && r->n_slotted; l = next) {
		struct pair *p = BSA_LINKED(l, struct pair, link);

		next = l->next;
		if (!p->slots || p->seen + SLOTS > number)
			continue;
		free(p->slots);
		p->slots = NULL;
		r->n_slotted--;
	}
}

uint64_t bsa_rows_window(const struct bsa_rows *r)
{
	uint64_t first = number_of(r->until) >= SLOTS ? (number_of(r->until) - SLOTS) * SLOT_NS : 0;

	if (first < r->began)
		first = r->began;
	return r->until > first ? r->until - first : 0;
}

struct bsa_live_sum bsa_rows_sum(const struct bsa_rows *r)
{
	struct bsa_live_sum sum = r->others;

	for (const struct bsa_link *l = r->by_seen.next; l != &r->by_seen; l = l->next)
		bsa_live_sum_add(&sum, &BSA_LINKED(l, struct pair, link)->sum);
	return sum;
}

void bsa_rows_app_name(const struct bsa_rows *r, uint32_t app, char ret[BSA_ROWS_APP_TEXT])
{
	const struct name *name = bsa_table_find(&r->apps.table, app);

	*ret = 0;
	if (name && *name->text)
		snprintf(ret, BSA_ROWS_APP_TEXT, "%s", name->text);
	else if (name)
		snprintf(ret, BSA_ROWS_APP_TEXT, "app %u", name->key);
}

static bool names_know(const struct names *names, uint32_t id)
{
	const struct name *name = bsa_table_find(&names->table, id);

	return name && *name->text;
}

bool bsa_rows_app_named(const struct bsa_rows *r, uint32_t app)
{
	return names_know(&r->apps, app);
}

bool bsa_rows_model_named(const struct bsa_rows *r, uint32_t model)
{
	return names_know(&r->models, model);
}

uint32_t bsa_rows_app_user(const struct bsa_rows *r, uint32_t app)
{
	const struct name *name = bsa_table_find(&r->apps.table, app);

	return name ? name->uid : BSA_LIVE_NOBODY;
}

const char *bsa_rows_model_name(const struct bsa_rows *r, uint32_t model)
{
	const struct name *name = bsa_table_find(&r->models.table, model);

	return name ? name->shown : "";
}

static uint64_t rows_rank_of(const uint64_t *took, uint64_t n, unsigned permille)
{
	uint64_t wanted = (n * permille + 999) / 1000, seen = 0;

	for (unsigned k = 0; n && k < BUCKETS; k++) {
		seen += took[k];
		if (seen >= wanted) {
			unsigned octave = FIRST_OCTAVE + k / FINE;
			uint64_t width = UINT64_C(1) << (octave - 5);

			/* Its middle. */
			return (UINT64_C(1) << octave) + k % FINE * width + width / 2;
		}
	}
	return BSA_LIVE_UNKNOWN;
}

void bsa_rows_counted(struct bsa_rows *r, uint64_t end, uint64_t now)
{
	if (end < r->began || now < end) /* the execution ended before the start, or is on another clock */
		return;
	r->counted[bucket_of(now - end)]++;
	r->n_counted++;
}

uint64_t bsa_rows_counted_rank(const struct bsa_rows *r, unsigned permille)
{
	return rows_rank_of(r->counted, r->n_counted, permille);
}

/* Models that are prepared again, as by the next process of an app, have the same row. */
static bool is_of(const struct bsa_rows *r, const struct pair *p, const struct bsa_live_row *row)
{
	return p->app == row->app_id && !strcmp(row->model, bsa_rows_model_name(r, p->model));
}

/* One row, of @first and all that are of it and were seen before. */
static void make_row(const struct bsa_rows *r, const struct pair *first, struct bsa_live_row *row)
{
	uint64_t took[BUCKETS] = { 0 };
	const struct share *share;
	const struct name *app;

	*row = (struct bsa_live_row){ .app_id = 0 };
	app = bsa_table_find(&r->apps.table, first->app);
	row->app_id = first->app;
	row->key = app ? app->key : BSA_LIVE_NOBODY;
	row->uid = bsa_rows_app_user(r, first->app);
	bsa_rows_app_name(r, first->app, row->app);
	snprintf(row->model, sizeof(row->model), "%s", bsa_rows_model_name(r, first->model));
	for (const struct bsa_link *l = &first->link; l != &r->by_seen; l = l->prev) {
		const struct pair *p = BSA_LINKED(l, struct pair, link);
		uint64_t last;

		if (p != first && !is_of(r, p, row))
			continue;
		bsa_live_sum_add(&row->sum, &p->sum);
		last = number_of(r->until);
		for (unsigned i = 0; p->slots && i < SLOTS; i++) {
			const struct slot *s = &p->slots[i];

			if (!s->number || s->number + SLOTS <= last || s->number > last)
				continue;
			row->executions += s->executions;
			row->answered += s->answered;
			row->missed += s->missed;
			row->slot_misses += s->slot_misses;
			row->run_ns += s->run_ns;
			row->queue_ns += s->queue_ns;
			row->per_slot[SLOTS - 1 - (last - s->number)] += s->executions;
			for (unsigned k = 0; k < BSA_CAUSES; k++)
				row->by_cause[k] += s->by_cause[k];
			for (unsigned k = 0; k < BUCKETS; k++)
				took[k] += s->took[k];
		}
	}
	row->p50_ns = rows_rank_of(took, row->answered, 500);
	row->p99_ns = rows_rank_of(took, row->answered, 990);

	share = bsa_table_find(&r->shares, row->app_id);
	for (unsigned i = 0; share && i < LAG_SLOTS; i++) {
		if (!share->windows[i].number || share->windows[i].number + LAG_SLOTS <= r->lagged)
			continue;
		row->received_ns += share->windows[i].received;
		row->entitled_ns += share->windows[i].entitled;
	}
}

size_t bsa_rows_get(const struct bsa_rows *r, bool all, struct bsa_live_row *ret, size_t max)
{
	size_t n = 0;

	for (const struct bsa_link *l = r->by_seen.prev; l != &r->by_seen && n < max; l = l->prev) {
		const struct pair *p = BSA_LINKED(l, struct pair, link);
		size_t k = 0;

		if (!all && !p->slots)
			continue;
		while (k < n && !is_of(r, p, &ret[k]))
			k++;
		if (k == n)
			make_row(r, p, &ret[n++]);
	}

	/* Apps that share a name are distinguished by the service's number of the app. */
	for (size_t i = 0; i < n; i++) {
		const struct name *app = bsa_table_find(&r->apps.table, ret[i].app_id);
		bool same = false;

		for (size_t k = 0; app && k < n && !same; k++) {
			const struct name *other = bsa_table_find(&r->apps.table, ret[k].app_id);

			same = other && other != app && *app->text && !strcmp(app->text, other->text);
		}
		if (same)
			snprintf(ret[i].app, sizeof(ret[i].app), "%s (%u)", app->text, app->key);
	}
	return n;
}
