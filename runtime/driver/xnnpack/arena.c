/*
 * arena.c -- greedy by size: the largest temporary first, each at the lowest offset where it overlaps no other
 * temporary of the same time.
 *
 * The time is quadratic in the number of temporaries. So a model with very many of them gets them one after the
 * other: its app pays in memory, and other apps do not pay in time.
 */
#include "arena.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "kernels/look.h"

enum { SHARING_MAX = 2048, OPERATION_UNITS = 50 /* units of kernels/look.h */ };

struct temporary {
	uint32_t operand;
	uint32_t born, dies; /* first and last operation that touches it */
	size_t bytes, offset;
};

static int larger_first(const void *a, const void *b)
{
	const struct temporary *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->operand < y->operand ? -1 : 1;
}

/* Collect the temporaries. Returns how many, or -EOVERFLOW. */
static int64_t temporaries_collect(const struct nnb_graph *g, const struct nnb_shape *shapes, struct temporary *t)
{
	const struct nnb_model *m = g->model;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_operations && nnbx_worked(OPERATION_UNITS); i++)
		for (uint32_t k = 0; k < m->operations[i].n_outputs; k++) {
			uint32_t o = m->operations[i].outputs[k];
			uint64_t bytes;

			if (m->operands[o].lifetime != NNB_TEMPORARY)
				continue;
			if (nnb_operand_bytes(m->operands[o].type, shapes[o].rank, shapes[o].dims, &bytes))
				return -EOVERFLOW;
			bytes = (bytes + NNBX_ALIGNMENT - 1) & ~(uint64_t)(NNBX_ALIGNMENT - 1);
			t[n++] = (struct temporary){
				.operand = o, .born = i, .dies = g->last_reader[o], .bytes = bytes
			};
		}
	return n;
}

/* The lowest offset for @t where none of the @n placed ones, sorted by offset, is in the way. */
static size_t lowest_free(const struct temporary *t, struct temporary *const *placed, uint32_t n)
{
	size_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct temporary *p = placed[i];

		assert(!i || placed[i - 1]->offset <= p->offset);
		if (p->dies < t->born || t->dies < p->born)
			continue;
		if (p->offset >= at + t->bytes)
			break;
		if (p->offset + p->bytes > at)
			at = p->offset + p->bytes;
	}
	return at;
}

static size_t temporaries_place(struct temporary *t, struct temporary **placed, uint32_t n)
{
	size_t end = 0;

	qsort(t, n, sizeof(*t), larger_first);
	for (uint32_t i = 0, k; i < n && nnbx_worked(4 * (size_t)n); i++) {
		t[i].offset = lowest_free(&t[i], placed, i);
		for (k = i; k > 0 && placed[k - 1]->offset > t[i].offset; k--)
			placed[k] = placed[k - 1];
		placed[k] = &t[i]; /* sorted by offset */
		if (t[i].offset + t[i].bytes > end)
			end = t[i].offset + t[i].bytes;
	}
	return end;
}

int nnbx_arena_plan(const struct nnb_graph *g, const struct nnb_shape *shapes, size_t *offsets, size_t *ret_bytes)
{
	const struct nnb_model *m = g->model;
	struct temporary *t = calloc(m->n_operands, sizeof(*t));
	struct temporary **placed = calloc(m->n_operands, sizeof(*placed));
	int64_t n = -ENOMEM;
	size_t end = 0;

	if (t && placed)
		n = temporaries_collect(g, shapes, t);
	if (nnbx_work.stopped)
		n = -ECANCELED;
	if (n >= 0) {
		if (n <= SHARING_MAX)
			end = temporaries_place(t, placed, (uint32_t)n);
		else
			for (uint32_t i = 0; i < (uint32_t)n; i++) {
				t[i].offset = end;
				end += t[i].bytes; /* 2^20 of 2^35 bytes at most */
			}
		*ret_bytes = NNB_MAPPING_SLACK + end;
		for (uint32_t i = 0; i < m->n_operands; i++)
			offsets[i] = SIZE_MAX;
		for (uint32_t i = 0; i < (uint32_t)n; i++)
			offsets[t[i].operand] = t[i].offset;
	}
	free(t);
	free(placed);
	return n < 0 ? (int)n : 0;
}
