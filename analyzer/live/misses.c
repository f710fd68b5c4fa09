/*
 * misses.c -- collects the facts of each execution until it ends, keeps those of misses, and blames
 * them with fold/blame.h.
 */
#include "live/misses.h"

#include "base/table.h"
#include "fold/list.h"
#include "live/usual.h"
#include "store/relations.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An array of facts of one kind. */
struct facts {
	void *all; /* owned */
	size_t n, room;
};

/* The facts kept of an execution: from its first wait on, and until the end if it misses its deadline. */
struct kept {
	struct bsa_entry entry; /* id */
	struct bsa_link link;   /* in the list open, or missed */
	struct facts waits, preemptions, slices;
	struct bsa_refused refused;
	bool was_refused;
	struct bsa_execution *execution; /* owned; NULL: not reported yet */
	size_t bytes;                    /* bytes that it takes, facts included */
	unsigned cause;                  /* as reported last; BSA_CAUSES: not reported yet */
};

struct bsa_misses {
	struct bsa_usual *usual;
	struct bsa_table kept;  /* entries of both lists, by id */
	struct bsa_link open;   /* executions that are not reported yet */
	struct bsa_link missed; /* those that missed their deadline, the oldest first */
	size_t bytes;           /* sum over both lists */
	bool inexact;           /* some were dropped for want of room */
	struct {
		bool known;
		uint8_t policy, preempt_mode, lanes;
	} rules[1 << 12];          /* of each service, by its instance */
	struct bsa_blamed *blamed; /* owned; scratch memory of blame_miss */
	size_t blamed_room;
};

struct bsa_misses *bsa_misses_new(void)
{
	struct bsa_misses *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	bsa_list_init(&m->open);
	bsa_list_init(&m->missed);
	m->usual = bsa_usual_new();
	return !bsa_table_init(&m->kept) && m->usual ? m : bsa_misses_free(m);
}

static void kept_drop(struct bsa_misses *m, struct kept *k)
{
	bsa_table_remove(&m->kept, &k->entry);
	bsa_list_remove(&k->link);
	assert(m->bytes >= k->bytes);
	m->bytes -= k->bytes;
	free(k->waits.all);
	free(k->preemptions.all);
	free(k->slices.all);
	free(k->execution);
	free(k);
}

static struct kept *first_of(struct bsa_link *list)
{
	struct bsa_link *l = bsa_list_first(list);

	return l ? BSA_LINKED(l, struct kept, link) : NULL;
}

struct bsa_misses *bsa_misses_free(struct bsa_misses *m)
{
	struct kept *k;

	if (!m)
		return NULL;
	while ((k = first_of(&m->open)) || (k = first_of(&m->missed)))
		kept_drop(m, k);
	bsa_table_fini(&m->kept);
	bsa_usual_free(m->usual);
	free(m->blamed);
	free(m);
	return NULL;
}

/* ---- facts ---- */

static void count_bytes(struct bsa_misses *m, struct kept *k, size_t bytes)
{
	k->bytes += bytes;
	m->bytes += bytes;
}

/*
 * Drop the oldest misses until the limit holds; where there are none, the execution that has been open for
 * the longest. Keep @but.
 */
static void misses_make_room(struct bsa_misses *m, const struct kept *but)
{
	while (m->bytes > MISSES_BYTES) {
		struct kept *k = first_of(&m->missed);

		if (!k || k == but)
			k = first_of(&m->open);
		if (!k || k == but)
			return;
		m->inexact = true;
		kept_drop(m, k);
	}
}

static struct kept *kept_of(struct bsa_misses *m, uint64_t id)
{
	struct kept *k = bsa_table_find(&m->kept, id);

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->cause = BSA_CAUSES;
	bsa_table_add(&m->kept, &k->entry, id);
	bsa_list_add(&m->open, &k->link);
	count_bytes(m, k, sizeof(*k));
	misses_make_room(m, k);
	return k;
}

static int facts_add(struct bsa_misses *m, struct kept *k, struct facts *to, const void *fact, size_t bytes)
{
	if (!k)
		return -ENOMEM;
	if (to->n == to->room) {
		size_t room = to->room ? 2 * to->room : 4;
		void *more = reallocarray(to->all, room, bytes);

		if (!more)
			return -ENOMEM;
		count_bytes(m, k, (room - to->room) * bytes);
		to->all = more;
		to->room = room;
		misses_make_room(m, k);
	}
	assert(to->n < to->room);
	memcpy((char *)to->all + to->n++ * bytes, fact, bytes);
	return 0;
}

int bsa_misses_wait(struct bsa_misses *m, const struct bsa_wait *w)
{
	struct kept *k = kept_of(m, w->execution);

	return facts_add(m, k, k ? &k->waits : NULL, w, sizeof(*w));
}

int bsa_misses_preemption(struct bsa_misses *m, const struct bsa_preemption *p)
{
	struct kept *k = kept_of(m, p->execution);

	return facts_add(m, k, k ? &k->preemptions : NULL, p, sizeof(*p));
}

int bsa_misses_slice(struct bsa_misses *m, const struct bsa_slice *s)
{
	struct kept *k = kept_of(m, s->execution);

	return facts_add(m, k, k ? &k->slices : NULL, s, sizeof(*s));
}

int bsa_misses_refused(struct bsa_misses *m, const struct bsa_refused *r)
{
	struct kept *k = kept_of(m, r->execution);

	if (!k)
		return -ENOMEM;
	k->refused = *r;
	k->was_refused = true;
	return 0;
}

/* Its miss may have been reported, with a cause; bsa_misses_again reports the other one. */
void bsa_misses_refused_proven(struct bsa_misses *m, const struct bsa_refused *r)
{
	struct kept *k = bsa_table_find(&m->kept, r->execution);

	if (k)
		k->refused = *r;
}

int bsa_misses_model(struct bsa_misses *m, const struct bsa_model *model)
{
	return bsa_usual_model(m->usual, model->id, model->app,
	                       model->estimate_ns == BSA_NEVER ? 0 : model->estimate_ns);
}

void bsa_misses_rules(struct bsa_misses *m, const struct bsa_rules *r)
{
	size_t i = r->instance % (sizeof(m->rules) / sizeof(*m->rules));

	m->rules[i].known = true;
	m->rules[i].policy = r->policy;
	m->rules[i].preempt_mode = r->preempt_mode;
	m->rules[i].lanes = r->lanes;
}

/* ---- why ---- */

static int by_beginning(const void *a, const void *b)
{
	const struct bsa_wait *x = a, *y = b;

	return (x->began > y->began) - (x->began < y->began);
}

static int by_stop(const void *a, const void *b)
{
	const struct bsa_preemption *x = a, *y = b;

	return (x->stopped > y->stopped) - (x->stopped < y->stopped);
}

static int by_slice(const void *a, const void *b)
{
	const struct bsa_slice *x = a, *y = b;

	return (x->began > y->began) - (x->began < y->began);
}

static void facts_sort(struct facts *t, size_t bytes, int (*compare)(const void *, const void *))
{
	if (t->n > 1)
		qsort(t->all, t->n, bytes, compare);
}

/* The primary cause of a miss, by what is usual so far. BSA_CAUSES: no memory. */
static unsigned blame_miss(struct bsa_misses *m, const struct kept *k, bool exactly)
{
	const struct bsa_typical typical = bsa_usual_of(m->usual, k->execution, exactly);
	size_t instance = k->execution->exec >> 52;
	const struct bsa_rules rules = { .policy = m->rules[instance].policy,
		                         .preempt_mode = m->rules[instance].preempt_mode,
		                         .lanes = m->rules[instance].lanes };
	struct bsa_missed missed = {
		.execution = k->execution,
		.typical = &typical,
		.waits = k->waits.all,
		.n_waits = k->waits.n,
		.preemptions = k->preemptions.all,
		.n_preemptions = k->preemptions.n,
		.slices = k->slices.all,
		.n_slices = k->slices.n,
		.refused = k->was_refused ? &k->refused : NULL,
	};
	size_t most = BSA_CAUSES + missed.n_waits + missed.n_preemptions, n;

	bsa_missed_rules(&missed, m->rules[instance].known ? &rules : NULL);
	if (most > m->blamed_room) {
		struct bsa_blamed *more = reallocarray(m->blamed, 2 * most, sizeof(*more));

		if (!more)
			return BSA_CAUSES;
		m->blamed = more;
		m->blamed_room = 2 * most;
	}
	n = bsa_blame(&missed, m->blamed, most);
	for (size_t i = 0; i < n; i++)
		if (m->blamed[i].is_primary)
			return m->blamed[i].cause;
	return BSA_CAUSES;
}

int bsa_misses_execution(struct bsa_misses *m, const struct bsa_execution *x, unsigned *ret)
{
	struct kept *k;
	int r = bsa_usual_add(m->usual, x);

	*ret = BSA_CAUSES;
	if (r || x->miss == BSA_MISS_NONE) {
		k = bsa_table_find(&m->kept, x->id);
		if (k)
			kept_drop(m, k);
		return r;
	}

	k = kept_of(m, x->id);
	if (!k || !(k->execution = malloc(sizeof(*x))))
		return -ENOMEM;
	*k->execution = *x;
	count_bytes(m, k, sizeof(*x));
	misses_make_room(m, k);
	facts_sort(&k->waits, sizeof(struct bsa_wait), by_beginning);
	facts_sort(&k->preemptions, sizeof(struct bsa_preemption), by_stop);
	facts_sort(&k->slices, sizeof(struct bsa_slice), by_slice);
	bsa_list_remove(&k->link);
	bsa_list_add(&m->missed, &k->link);
	*ret = k->cause = blame_miss(m, k, false);
	return 0;
}

void bsa_misses_again(struct bsa_misses *m,
                      void (*report)(void *ctx, uint32_t app, uint32_t model, unsigned was, unsigned is), void *ctx)
{
	for (struct bsa_link *l = m->missed.next; l != &m->missed; l = l->next) {
		struct kept *k = BSA_LINKED(l, struct kept, link);
		unsigned was = k->cause;

		k->cause = blame_miss(m, k, true);
		if (k->cause != was)
			report(ctx, k->execution->app, k->execution->model, was, k->cause);
	}
}

bool bsa_misses_is_exact(const struct bsa_misses *m)
{
	return !m->inexact && bsa_usual_is_exact(m->usual);
}
