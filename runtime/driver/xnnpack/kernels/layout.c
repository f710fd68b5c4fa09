/* layout.c -- elements moved and looked up, unseen. */
#include <string.h>

#include "kernels.h"
#include "look.h"

/* ---- moving ---- */

/*
 * Both ways between depth and space: an image row of @w cells, each @block² chunks deep, is @block rows of
 * w * block chunks, and of a cell the chunks of one such row are neighbours on either side.
 */
struct blocks {
	size_t rows, w, block, chunk; /* rows of all images, and the bytes of a chunk */
};

static void move_blocks(const struct blocks *b, const char *in, char *out, bool to_depth)
{
	size_t run = b->block * b->chunk;

	for (size_t y = 0; y < b->rows && nnbx_worked(1); y++)
		for (size_t i = 0; i < b->block && nnbx_worked(1); i++)
			for (size_t x = 0; x < b->w && nnbx_worked(5); x++) {
				size_t deep = ((y * b->w + x) * b->block + i) * run;
				size_t wide = ((y * b->block + i) * b->w + x) * run;

				nnbx_copy(out + (to_depth ? deep : wide), in + (to_depth ? wide : deep), run);
			}
}

void nnbx_depth_to_space(uint32_t batch, uint32_t h, uint32_t w, uint32_t c, uint32_t block, size_t elem,
                         const void *in, void *out)
{
	struct blocks b = { (size_t)batch * h, w, block, c / ((size_t)block * block) * elem };

	move_blocks(&b, in, out, false);
}

void nnbx_space_to_depth(uint32_t batch, uint32_t h, uint32_t w, uint32_t c, uint32_t block, size_t elem,
                         const void *in, void *out)
{
	struct blocks b = { (size_t)batch * (h / block), w / block, block, c * elem };

	move_blocks(&b, in, out, true);
}

void nnbx_copy_rows(size_t rows, size_t row_bytes, const void *in, size_t out_step, void *out)
{
	for (size_t row = 0; row < rows && nnbx_worked(5); row++)
		nnbx_copy((char *)out + row * out_step, (const char *)in + row * row_bytes, row_bytes);
}

/* ---- looking up ---- */

/* Read once: what is checked is what is used. */
static int32_t read_once(const int32_t *p)
{
	return *(const volatile int32_t *)p;
}

bool nnbx_embedding_lookup(size_t n, const int32_t *lookups, size_t rows, size_t row_bytes, const void *values,
                           void *out)
{
	for (size_t i = 0; i < n && nnbx_worked(5); i++) {
		int32_t row = read_once(lookups + i);

		if (row < 0 || (size_t)row >= rows)
			return false;
		nnbx_copy((char *)out + i * row_bytes, (const char *)values + (size_t)row * row_bytes, row_bytes);
	}
	return true;
}

enum { FIND_UNITS = 300 }; /* units of look.h for finding one of a million keys, which no cache holds */

/* The row of a key, or @rows. Keys out of order, or that change meanwhile, make it miss. */
static size_t key_find(int32_t key, const int32_t *keys, size_t rows)
{
	size_t begin = 0, end = rows;

	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;
		int32_t there = read_once(keys + middle);

		if (there == key)
			return middle;
		if (there < key)
			begin = middle + 1;
		else
			end = middle;
	}
	return rows;
}

void nnbx_hashtable_lookup(size_t n, const int32_t *lookups, size_t rows, const int32_t *keys, size_t row_bytes,
                           const void *values, void *out, uint8_t *hits)
{
	char *to = out;

	for (size_t i = 0; i < n && nnbx_worked(FIND_UNITS); i++, to += row_bytes) {
		size_t row = key_find(read_once(lookups + i), keys, rows);

		hits[i] = row < rows; /* read only once: an output may be shared with a peer */
		if (row < rows)
			nnbx_copy(to, (const char *)values + row * row_bytes, row_bytes);
		else
			nnbx_clear(to, row_bytes);
	}
}
