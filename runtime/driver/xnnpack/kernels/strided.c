/* strided.c -- elements moved from one order to another. */
#include <assert.h>
#include <string.h>

#include "tensor.h"

enum { BYTES_A_UNIT = 4, STEP_UNITS = 1 };

/* A row whose elements are not neighbours on both sides. */
static void move_row(size_t n, size_t elem, const char *in, ptrdiff_t in_step, char *out, ptrdiff_t out_step)
{
	in_step *= (ptrdiff_t)elem;
	out_step *= (ptrdiff_t)elem;
	NNBX_IN_PARTS (n, 2, at, part)
		for (size_t i = at; i < at + part; i++) {
			const char *from = in + (ptrdiff_t)i * in_step;
			char *to = out + (ptrdiff_t)i * out_step;

			switch (elem) {
			case 1:
				*to = *from;
				break;
			case 2:
				memcpy(to, from, 2);
				break;
			default:
				memcpy(to, from, 4);
			}
		}
}

/*
 * Without dimensions of 1, and with those that both sides walk through alike taken together. The last is the
 * innermost.
 */
static struct nnbx_move move_simplified(const struct nnbx_move *m)
{
	struct nnbx_move s = { 0 };

	assert(m->rank <= NNBX_MOVE_RANK);
	for (uint32_t d = 0; d < m->rank; d++) {
		uint32_t last = s.rank - 1;

		if (m->dims[d] == 1)
			continue;
		if (s.rank && s.in_step[last] == m->in_step[d] * (ptrdiff_t)m->dims[d] &&
		    s.out_step[last] == m->out_step[d] * (ptrdiff_t)m->dims[d]) {
			s.dims[last] *= m->dims[d];
		} else {
			last = s.rank++;
			s.dims[last] = m->dims[d];
		}
		s.in_step[last] = m->in_step[d];
		s.out_step[last] = m->out_step[d];
	}
	if (!s.rank)
		s = (struct nnbx_move){ .rank = 1, .dims = { 1 }, .in_step = { 1 }, .out_step = { 1 } };
	return s;
}

/* Go to the next row. False: that was the last. */
static bool next_row(const struct nnbx_move *m, size_t *index, ptrdiff_t *in, ptrdiff_t *out)
{
	for (uint32_t d = m->rank - 1; d-- > 0;) {
		*in += m->in_step[d];
		*out += m->out_step[d];
		if (++index[d] < m->dims[d])
			return true;
		*in -= m->in_step[d] * (ptrdiff_t)m->dims[d];
		*out -= m->out_step[d] * (ptrdiff_t)m->dims[d];
		index[d] = 0;
	}
	return false;
}

void nnbx_move(const struct nnbx_move *how, size_t elem, const void *in, void *out)
{
	struct nnbx_move m = move_simplified(how);
	size_t index[NNBX_MOVE_RANK] = { 0 }, n = m.dims[m.rank - 1];
	ptrdiff_t in_step = m.in_step[m.rank - 1], out_step = m.out_step[m.rank - 1], from = 0, to = 0;

	assert(m.rank > 0 && m.rank <= NNBX_MOVE_RANK);
	for (uint32_t d = 0; d < m.rank; d++)
		if (!m.dims[d])
			return;
	do {
		const char *in_at = (const char *)in + from * (ptrdiff_t)elem;
		char *out_at = (char *)out + to * (ptrdiff_t)elem;

		if (in_step == 1 && out_step == 1)
			nnbx_copy(out_at, in_at, n * elem);
		else
			move_row(n, elem, in_at, in_step, out_at, out_step);
	} while (nnbx_worked(5) && next_row(&m, index, &from, &to));
}

void nnbx_fill(size_t n, size_t elem, const void *value, void *out)
{
	char one[8] = { 0 };

	assert(elem <= sizeof(one));
	memcpy(one, value, elem);
	move_row(n, elem, one, 0, out, 1);
}
