/*
 * steps.c -- steps that are noted and not taken yet.
 */
#include "fold/steps.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum {
	RANK_SHIFT = 61,
	PASSES = 32, /* as many of its run */
	SOON = 3,    /* steps: far enough to be there when it is taken, and near enough to stay */
	AHEAD = 8    /* likewise, of the steps themselves: four cache lines */
};

void bsa_steps_fini(struct bsa_steps *q)
{
	for (int i = 0; i < BSA_RANKS; i++)
		free(q->runs[i].all);
	free(q->heap.all);
	*q = (struct bsa_steps){ 0 };
}

static bool is_earlier(const struct bsa_noted *a, const struct bsa_noted *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static struct bsa_noted *nth_noted(const struct bsa_noted_array *a, size_t i)
{
	return &a->all[(a->first + i) & (a->room - 1)];
}

static int noted_grow(struct bsa_noted_array *a)
{
	size_t room = a->room ? 2 * a->room : 64;
	struct bsa_noted *more = malloc(room * sizeof(*more));

	if (!more)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++)
		more[i] = *nth_noted(a, i);
	free(a->all);
	a->all = more;
	a->room = room;
	a->first = 0;
	return 0;
}

/* 1: it is not one of the last. */
static int add_to_run(struct bsa_noted_array *run, const struct bsa_noted *noted)
{
	size_t place = run->n;

	if (run->n == run->room && noted_grow(run) < 0)
		return -ENOMEM;
	while (place && is_earlier(noted, nth_noted(run, place - 1))) {
		if (run->n - place == PASSES)
			return 1;
		place--;
	}
	assert(place <= run->n && run->n < run->room);
	for (size_t i = run->n++; i > place; i--)
		*nth_noted(run, i) = *nth_noted(run, i - 1);
	*nth_noted(run, place) = *noted;
	return 0;
}

static int add_to_heap(struct bsa_noted_array *heap, const struct bsa_noted *noted)
{
	size_t i = heap->n;

	if (heap->n == heap->room && noted_grow(heap) < 0)
		return -ENOMEM;
	assert(heap->n < heap->room);
	for (size_t up; i && is_earlier(noted, &heap->all[up = (i - 1) / 2]); i = up)
		heap->all[i] = heap->all[up];
	heap->all[i] = *noted;
	heap->n++;
	return 0;
}

static void take_from_heap(struct bsa_noted_array *heap)
{
	struct bsa_noted last;
	size_t i = 0;

	assert(heap->n);
	last = heap->all[--heap->n];
	for (size_t down; (down = 2 * i + 1) < heap->n; i = down) {
		if (down + 1 < heap->n && is_earlier(&heap->all[down + 1], &heap->all[down]))
			down++;
		if (!is_earlier(&heap->all[down], &last))
			break;
		heap->all[i] = heap->all[down];
	}
	heap->all[i] = last;
}

static void begins_with(struct bsa_steps *q, unsigned source, const struct bsa_noted *noted)
{
	q->at = noted->at;
	q->order = noted->order;
	q->source = source;
}

static bool is_earliest(const struct bsa_steps *q, const struct bsa_noted *noted)
{
	return noted->at != q->at ? noted->at < q->at : noted->order < q->order;
}

int bsa_steps_add(struct bsa_steps *q, const struct bsa_noted *noted, enum bsa_rank rank)
{
	struct bsa_noted step = *noted;
	unsigned source = rank;
	int r;

	step.order = (uint64_t)rank << RANK_SHIFT | q->serial++;
	r = add_to_run(&q->runs[rank], &step);
	if (r > 0) {
		source = BSA_RANKS;
		r = add_to_heap(&q->heap, &step);
	}
	if (r < 0)
		return r;
	if (!q->n++ || is_earliest(q, &step))
		begins_with(q, source, &step);
	return 0;
}

const struct bsa_scheduled *bsa_steps_soon(const struct bsa_steps *q)
{
	const struct bsa_noted_array *run = &q->runs[BSA_RANK_READY]; /* the first step of most executions */

	for (unsigned i = 0; i < BSA_RANKS; i++)
		if (q->runs[i].n > AHEAD)
			__builtin_prefetch(nth_noted(&q->runs[i], AHEAD));
	return run->n > SOON ? nth_noted(run, SOON)->x : NULL;
}

void bsa_steps_take(struct bsa_steps *q, struct bsa_noted *ret)
{
	assert(q->n);
	q->n--;
	if (q->source == BSA_RANKS) {
		*ret = q->heap.all[0];
		take_from_heap(&q->heap);
	} else {
		struct bsa_noted_array *run = &q->runs[q->source];

		assert(q->source < BSA_RANKS && run->n);
		*ret = run->all[run->first];
		run->first = (run->first + 1) & (run->room - 1);
		run->n--;
	}
	if (!q->n)
		return;

	/* Find the earliest of the steps that are left. */
	q->at = q->order = UINT64_MAX;
	if (q->heap.n)
		begins_with(q, BSA_RANKS, q->heap.all);
	for (unsigned i = 0; i < BSA_RANKS; i++) {
		const struct bsa_noted_array *run = &q->runs[i];

		if (run->n && is_earliest(q, &run->all[run->first]))
			begins_with(q, i, &run->all[run->first]);
	}
}
