/*
 * sort.c -- sorts pairs externally: a radix sort of each run in memory, and a merge of the runs by
 * a heap.
 */
#include "store/sort.h"

#include "base/vector.h"
#include "store/file.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RUN = 1 << 16, /* pairs */
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
	READ = 256, /* pairs of a run at a time */
};

struct run {
	uint64_t at, left; /* in the file, in pairs; beyond those that were read */
	struct bsa_sort_pair *read;
	unsigned i, n; /* index and number of the rows in memory */
};

struct bsa_sort {
	const struct bsa_store_file *file;
	int fd;
	struct bsa_sort_pair *pairs, *other; /* RUN each */
	size_t n, all;
	struct run *runs; /* a heap, by their next pair, once they are merged */
	size_t n_runs, room;
	bool merging;
};

struct bsa_sort *bsa_sort_new(const struct bsa_store_file *file)
{
	struct bsa_sort *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->file = file;
	s->fd = -1;
	s->pairs = malloc(RUN * sizeof(*s->pairs));
	s->other = malloc(RUN * sizeof(*s->other));
	return s->pairs && s->other ? s : bsa_sort_free(s);
}

struct bsa_sort *bsa_sort_free(struct bsa_sort *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; s->merging && i < s->n_runs; i++)
		free(s->runs[i].read);
	if (s->fd >= 0)
		close(s->fd);
	free(s->runs);
	free(s->pairs);
	free(s->other);
	free(s);
	return NULL;
}

size_t bsa_sort_n(const struct bsa_sort *s)
{
	return s->all;
}

/* ---- runs ---- */

/* By digits, the lowest first, as long as they differ. */
static void sort_run(struct bsa_sort *s)
{
	uint64_t differ = 0;

	for (size_t i = 1; i < s->n; i++)
		differ |= s->pairs[i].key ^ s->pairs[0].key;
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		uint32_t at[DIGITS] = { 0 }, sum = 0;
		struct bsa_sort_pair *swap = s->pairs;

		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		for (size_t i = 0; i < s->n; i++)
			at[s->pairs[i].key >> shift & (DIGITS - 1)]++;
		for (unsigned d = 0; d < DIGITS; d++) {
			uint32_t n = at[d];

			at[d] = sum;
			sum += n;
		}
		for (size_t i = 0; i < s->n; i++)
			s->other[at[s->pairs[i].key >> shift & (DIGITS - 1)]++] = s->pairs[i];
		s->pairs = s->other;
		s->other = swap;
	}
}

static int read_pairs(const struct bsa_sort *s, struct bsa_sort_pair *pairs, size_t n, uint64_t at)
{
	char *p = (char *)pairs;
	size_t bytes = n * sizeof(*pairs), place = at * sizeof(*pairs);

	while (bytes) {
		ssize_t r = pread(s->fd, p, bytes, (off_t)place);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return errno = r ? errno : EIO, -1;
		p += r;
		place += (size_t)r;
		bytes -= (size_t)r;
	}
	return 0;
}

static int sort_end_run(struct bsa_sort *s)
{
	if (s->fd < 0)
		s->fd = bsa_store_file_scratch(s->file);
	if (s->fd < 0)
		return -1;
	if (!BSA_RESERVE(s->runs, s->room, s->n_runs + 1, 16))
		return errno = ENOMEM, -1;
	sort_run(s);
	if (bsa_store_file_write(s->fd, s->pairs, s->n * sizeof(*s->pairs), (s->all - s->n) * sizeof(*s->pairs)))
		return -1;
	s->runs[s->n_runs++] = (struct run){ .at = s->all - s->n, .left = s->n };
	s->n = 0;
	return 0;
}

int bsa_sort_add(struct bsa_sort *s, struct bsa_sort_pair pair)
{
	assert(s->n < RUN); /* after an error the caller adds no more */
	s->pairs[s->n++] = pair;
	s->all++;
	return s->n == RUN ? sort_end_run(s) : 0;
}

/* ---- merging ---- */

static int run_fill(struct bsa_sort *s, struct run *r)
{
	if (r->i < r->n || !r->left)
		return 0;
	r->n = r->left < READ ? (unsigned)r->left : READ;
	r->i = 0;
	if (read_pairs(s, r->read, r->n, r->at))
		return -1;
	r->at += r->n;
	r->left -= r->n;
	return 0;
}

/*
 * True: @a comes first. Of equal keys the earlier run comes first, which has the lower position in the file.
 * An empty run is last.
 */
static bool run_before(const struct run *a, const struct run *b)
{
	if (a->i == a->n || b->i == b->n)
		return a->i < a->n;
	if (a->read[a->i].key != b->read[b->i].key)
		return a->read[a->i].key < b->read[b->i].key;
	return a->at < b->at;
}

static void heap_sink(struct bsa_sort *s, size_t i)
{
	for (;;) {
		size_t least = i;
		struct run swap;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < s->n_runs; child++)
			if (run_before(&s->runs[child], &s->runs[least]))
				least = child;
		if (least == i)
			return;
		swap = s->runs[i];
		s->runs[i] = s->runs[least];
		s->runs[least] = swap;
		i = least;
	}
}

static int begin_merge(struct bsa_sort *s)
{
	s->merging = true;
	if (!s->n_runs) {
		sort_run(s);
		s->n = 0;
		return 0;
	}
	if (s->n && sort_end_run(s))
		return -1;
	for (size_t i = 0; i < s->n_runs; i++) {
		s->runs[i].read = malloc(READ * sizeof(struct bsa_sort_pair));
		if (!s->runs[i].read)
			return errno = ENOMEM, -1;
		if (run_fill(s, &s->runs[i]))
			return -1;
	}
	for (size_t i = s->n_runs; i-- > 0;)
		heap_sink(s, i);
	return 0;
}

int bsa_sort_next(struct bsa_sort *s, struct bsa_sort_pair *ret)
{
	if (!s->merging && begin_merge(s))
		return -1;
	if (!s->n_runs) {
		*ret = s->pairs[s->n++];
		return 0;
	}
	*ret = s->runs[0].read[s->runs[0].i++];
	if (run_fill(s, &s->runs[0]))
		return -1;
	heap_sink(s, 0);
	return 0;
}
