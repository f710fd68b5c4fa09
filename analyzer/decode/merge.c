/* merge.c -- keeps the heads of the sequences in a heap, by time. */
#include "merge.h"

#include <assert.h>

void bsa_merge_add(struct bsa_merge *m, struct bsa_head head)
{
	size_t i = m->n++;

	for (; i > 0 && bsa_head_before(&head, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = head;
}

void bsa_merge_settle(struct bsa_merge *m)
{
	struct bsa_head head;
	size_t i = 0, next;

	assert(m->n > 0);
	head = m->heap[0];
	for (; (next = 2 * i + 1) < m->n; i = next) {
		if (next + 1 < m->n && bsa_head_before(&m->heap[next + 1], &m->heap[next]))
			next++;
		if (!bsa_head_before(&m->heap[next], &head))
			break;
		m->heap[i] = m->heap[next];
	}
	m->heap[i] = head;
}

void bsa_merge_drop(struct bsa_merge *m)
{
	assert(m->n > 0);
	m->heap[0] = m->heap[--m->n];
	if (m->n)
		bsa_merge_settle(m);
}
