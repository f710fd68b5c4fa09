/* mutated.c -- see mutated.h. */
#include "analyzer/mutated.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "decode/catalogue.h"

enum { CHANGES_MAX = 4, FILES_MAX = 64, PATH_SIZE = 1024 };

static _Noreturn void give_up(const char *what)
{
	perror(what);
	abort();
}

static uint64_t below(uint64_t *state, uint64_t n)
{
	return n ? splitmix_next(state) % n : 0;
}

static void __attribute__((format(printf, 3, 4))) say(char *said, size_t size, const char *format, ...)
{
	size_t n = strlen(said);
	va_list args;

	va_start(args, format);
	vsnprintf(said + n, size - n, format, args);
	va_end(args);
}

static uint64_t absurd(uint64_t *state)
{
	static const uint64_t numbers[] = { 0,
		                            1,
		                            2,
		                            7,
		                            63,
		                            64,
		                            65,
		                            254,
		                            255,
		                            256,
		                            4095,
		                            4096,
		                            UINT16_MAX,
		                            INT32_MAX,
		                            (uint64_t)INT32_MIN,
		                            UINT32_MAX,
		                            1ull << 32,
		                            1ull << 52,
		                            1ull << 61,
		                            1ull << 62,
		                            INT64_MAX,
		                            (uint64_t)INT64_MIN,
		                            UINT64_MAX - 1,
		                            UINT64_MAX };

	return numbers[below(state, sizeof(numbers) / sizeof(*numbers))];
}

/* ---- records ---- */

void records_init(struct records *r)
{
	*r = (struct records){ .bytes = NULL };
}

void records_fini(struct records *r)
{
	free(r->bytes);
	free(r->at);
	records_init(r);
}

void records_add(struct records *r, const struct bsa_event *e)
{
	size_t words = e->size / 8;

	if (r->used + words > r->room) {
		r->room = 2 * (r->used + words);
		r->bytes = realloc(r->bytes, r->room * sizeof(*r->bytes));
	}
	if (r->n == r->places) {
		r->places = 2 * r->n + 16;
		r->at = realloc(r->at, r->places * sizeof(*r->at));
	}
	if (!r->bytes || !r->at)
		give_up("memory");
	memcpy(r->bytes + r->used, e, e->size);
	r->at[r->n++] = r->used;
	r->used += words;
}

/* One number of a record. */
struct number {
	const char *name;
	void *at;
	uint8_t bytes;
};

static uint64_t number_get(const struct number *n)
{
	uint64_t value = 0;

	memcpy(&value, n->at, n->bytes); /* little endian, as all that the tests run on */
	return value;
}

static void number_set(const struct number *n, uint64_t value)
{
	memcpy(n->at, &value, n->bytes);
}

static struct number number_of(struct bsa_event *e, const struct bsa_column *c, uint64_t place)
{
	uint8_t bytes = c->shape == BSA_SHAPE_TEXT ? 1 : c->bytes;
	uint64_t n = c->shape == BSA_SHAPE_TEXT ? c->bytes - 1u : c->n;

	return (struct number){ c->name, (char *)e + c->at + place % n * bytes, bytes };
}

/* The same field of another record of its kind, or at least of a field that has its name. */
static uint64_t borrowed(const struct records *from, const struct number *like, uint64_t *state)
{
	for (unsigned tries = 0; tries < 64; tries++) {
		struct bsa_event *e = records_get(from, below(state, from->n));
		const struct bsa_layout *layout;

		if (e->kind == BSA_loss)
			continue;
		layout = bsa_layout(e->kind);
		for (unsigned i = 0; i < layout->n_columns; i++)
			if (!strcmp(layout->columns[i].name, like->name)) {
				struct number n = number_of(e, &layout->columns[i], splitmix_next(state));

				return number_get(&n);
			}
	}
	return absurd(state);
}

static uint64_t another_value(const struct records *from, const struct bsa_event *e, const struct number *n,
                              uint64_t *state)
{
	uint64_t value = number_get(n);

	switch (below(state, 8)) {
	case 0:
	case 1:
		return absurd(state);
	case 2:
	case 3:
		return borrowed(from, n, state);
	case 4:
		return value ^ UINT64_C(1) << below(state, 8 * n->bytes);
	case 5:
		return value + below(state, 9) - 4;
	case 6: /* a time near this one, or one of the trace */
		return below(state, 2) ? e->at + below(state, 2001) - 1000
		                       : records_get(from, below(state, from->n))->at;
	default:
		return splitmix_next(state) >> below(state, 64);
	}
}

static void change_field(const struct records *from, struct bsa_event *e, uint64_t *state, char *said, size_t size)
{
	const struct bsa_layout *layout;
	struct number n;
	uint64_t before;

	if (e->kind == BSA_loss) /* texts of the decoder itself, and of no stranger */
		return;
	layout = bsa_layout(e->kind);
	n = number_of(e, &layout->columns[below(state, layout->n_columns)], splitmix_next(state));
	before = number_get(&n);
	number_set(&n, another_value(from, e, &n, state));
	say(said, size, " %s@%" PRIu64 ".%s: %" PRIu64 " -> %" PRIu64 ";", layout->name, e->at, n.name, before,
	    number_get(&n));
}

static void change_time(const struct records *from, struct bsa_event *e, uint64_t *state, char *said, size_t size)
{
	uint64_t before = e->at;

	e->at = below(state, 4) ? records_get(from, below(state, from->n))->at
	                        : e->at + (splitmix_next(state) >> below(state, 64));
	if (e->at > INT64_MAX)
		e->at = INT64_MAX;
	say(said, size, " kind %u: time %" PRIu64 " -> %" PRIu64 ";", e->kind, before, e->at);
}

/* The result of a decoder for a time before the one of the event before. */
static void put_times_in_order(struct records *r)
{
	uint64_t last = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct bsa_event *e = records_get(r, i);

		if (e->at < last)
			e->at = last;
		last = e->at;
		if (e->kind == BSA_loss) {
			struct bsa_loss *loss = (struct bsa_loss *)(e + 1);

			if (loss->ended < e->at)
				loss->ended = e->at;
		}
	}
}

void mutate_fields(const struct records *from, uint64_t seed, struct records *ret, char *said, size_t size)
{
	uint64_t state = seed, changes = 1 + below(&state, CHANGES_MAX);
	size_t gone = SIZE_MAX, twice = SIZE_MAX;
	struct records copy;

	records_init(&copy);
	for (size_t i = 0; i < from->n; i++)
		records_add(&copy, records_get(from, i));
	*said = 0;
	while (changes--) {
		size_t which = below(&state, from->n);
		struct bsa_event *e = records_get(&copy, which);

		switch (below(&state, 12)) {
		case 0:
			gone = which;
			say(said, size, " record %zu is gone;", which);
			break;
		case 1:
			twice = which;
			say(said, size, " record %zu is there twice;", which);
			break;
		case 2:
			change_time(from, e, &state, said, size);
			break;
		default:
			change_field(from, e, &state, said, size);
		}
	}
	for (size_t i = 0; i < copy.n; i++)
		for (unsigned n = i == gone ? 0 : i == twice ? 2 : 1; n--;)
			records_add(ret, records_get(&copy, i));
	records_fini(&copy);
	put_times_in_order(ret);
}

/* ---- bytes ---- */

static struct {
	const char *from, *to;
	char files[FILES_MAX][PATH_SIZE]; /* files that were copied */
	size_t n;
} copying;

static void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char buffer[65536];
	ssize_t n;

	if (in < 0 || out < 0)
		give_up(from);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, (size_t)n) != n)
			give_up(to);
	close(in);
	close(out);
}

static int copy_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char to[PATH_SIZE];

	(void)ftw;
	if (snprintf(to, sizeof(to), "%s%s", copying.to, path + strlen(copying.from)) >= (int)sizeof(to))
		give_up(path);
	if (type == FTW_D && mkdir(to, 0700))
		give_up(to);
	if (type != FTW_F)
		return 0;
	copy_file(path, to);
	if (st->st_size && copying.n < FILES_MAX)
		strcpy(copying.files[copying.n++], to);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool is_metadata(const char *path)
{
	return !strcmp(strrchr(path, '/'), "/metadata");
}

/*
 * Packets that LTTng writes are padded: no reader reads what is behind their contents. So half of the changes are
 * near the beginning.
 */
static uint64_t place_in(uint64_t *state, uint64_t size)
{
	return below(state, 2) ? below(state, size) : below(state, size < 8192 ? size : 8192);
}

static void change_bytes(const char *path, uint64_t *state, char *said, size_t size)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint64_t value = 0, where, bytes = UINT64_C(1) << below(state, 4);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		give_up(path);
	where = place_in(state, (uint64_t)st.st_size);
	if (pread(fd, &value, bytes, (off_t)where) < 0)
		give_up(path);
	switch (below(state, 3)) {
	case 0:
		value = absurd(state);
		break;
	case 1:
		value ^= UINT64_C(1) << below(state, 8 * bytes);
		break;
	default:
		value = splitmix_next(state);
	}
	if (where + bytes > (uint64_t)st.st_size)
		bytes = 1;
	if (pwrite(fd, &value, bytes, (off_t)where) != (ssize_t)bytes)
		give_up(path);
	close(fd);
	say(said, size, " %s: %" PRIu64 " bytes from %" PRIu64 ";", strrchr(path, '/') + 1, bytes, where);
}

void mutate_bytes(const char *from, const char *to, uint64_t seed, char *said, size_t size)
{
	uint64_t state = seed, changes = 1 + below(&state, CHANGES_MAX);

	copying.from = from;
	copying.to = to;
	copying.n = 0;
	if (nftw(from, copy_entry, 16, FTW_PHYS) || !copying.n)
		give_up(from);
	qsort(copying.files, copying.n, sizeof(copying.files[0]), by_name);
	*said = 0;
	while (changes--) {
		const char *path = copying.files[below(&state, copying.n)];

		for (unsigned tries = 0; is_metadata(path) && tries < 4; tries++)
			path = copying.files[below(&state, copying.n)];
		change_bytes(path, &state, said, size);
	}
}
