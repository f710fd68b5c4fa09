/*
 * spill.c -- collects durations in chunks by group, and writes full chunks to a file.
 *
 * LAYOUT. Chunks of the file, one behind the other: struct head, then n times FIGURES values, of 32 bits, or
 * (wide) of 64 where one does not fit. Each knows where the one before it of its group is. Full chunks have
 * ROWS rows; where there are more groups than room for their chunks, all that are begun are written as they
 * are.
 */
#include "store/spill.h"

#include "fold/blame.h"

#include "base/index.h"
#include "base/vector.h"
#include "fold/overhead.h"
#include "store/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ROWS = 256,
	CHUNKS_MAX = 320,      /* narrow ones; a wide one counts as two: 4.9 MB */
	UNKNOWN = -1,          /* in 32 bits */
	GROUPS_FEW = 1024,     /* limit of groups that may have one execution each; */
	GROUPS_MAX = 1 << 13,  /* beyond that, up to this number, */
	EXECUTIONS_OF_EACH = 8 /* each has so many on average: then they are small beside the executions */
};

struct head {
	uint64_t before; /* as group.last */
	uint32_t n, wide;
};

struct chunk {
	struct head head; /* first: written with what follows */
	union {
		uint32_t narrow[ROWS * FIGURES];
		uint64_t wide[0];
	};
};

struct bsa_spill {
	const struct bsa_store_file *file;
	int fd;
	uint64_t end; /* end of the file */
	struct bsa_spill_group *groups;
	size_t n_groups, groups_room;
	uint64_t n_rows, joined;
	struct bsa_index index; /* of groups */
	unsigned chunks;
	const char *error;
	uint64_t *row_room; /* for bsa_spill_walk: ROWS rows */
};

static size_t spill_bytes_of(bool wide)
{
	return sizeof(struct head) + (size_t)ROWS * FIGURES * (wide ? sizeof(uint64_t) : sizeof(uint32_t));
}

static int spill_fail(struct bsa_spill *s, const char *why)
{
	s->error = why;
	return -1;
}

const char *bsa_spill_error(const struct bsa_spill *s)
{
	return s->error;
}

struct bsa_spill *bsa_spill_new(const struct bsa_store_file *file)
{
	struct bsa_spill *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->file = file;
	s->fd = -1;
	s->row_room = malloc(sizeof(*s->row_room) * ROWS * FIGURES);
	return s->row_room ? s : bsa_spill_free(s);
}

struct bsa_spill *bsa_spill_free(struct bsa_spill *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_groups; i++) {
		free(s->groups[i].narrow);
		free(s->groups[i].wide);
	}
	if (s->fd >= 0)
		close(s->fd);
	free(s->groups);
	bsa_index_fini(&s->index);
	free(s->row_room);
	free(s);
	return NULL;
}

/* ---- groups ---- */

static uint64_t group_number(const struct bsa_spill_group *key)
{
	uint64_t rest = (uint64_t)key->priority << 24 | (uint64_t)key->path << 16 | (uint64_t)(uint8_t)key->cold << 8 |
	                key->quiet;

	return bsa_mixed((uint64_t)key->app << 32 | key->model) ^ rest;
}

static bool group_has(const struct bsa_spill_group *g, const struct bsa_spill_group *key)
{
	return g->app == key->app && g->model == key->model && g->priority == key->priority && g->path == key->path &&
	       g->cold == key->cold && g->quiet == key->quiet;
}

/* The group of @key, or NULL. */
static struct bsa_spill_group *find_group(const struct bsa_spill *s, const struct bsa_spill_group *key)
{
	uint64_t number = group_number(key);
	size_t at;

	for (uint32_t i = bsa_index_find(&s->index, number, &at); i != BSA_INDEX_NONE;
	     i = bsa_index_next(&s->index, number, &at))
		if (group_has(&s->groups[i], key))
			return &s->groups[i];
	return NULL;
}

/* The group of @key, made if need be. NULL: no memory. */
static struct bsa_spill_group *group_of(struct bsa_spill *s, const struct bsa_spill_group *key)
{
	struct bsa_spill_group other = { .priority = 255, .path = key->path, .cold = -1 }; /* no app, no model */
	struct bsa_spill_group *found = find_group(s, key);

	if (!found && s->n_groups >= GROUPS_FEW &&
	    (s->n_groups >= GROUPS_MAX || s->n_groups >= s->n_rows / EXECUTIONS_OF_EACH)) {
		s->joined++;
		key = &other;
		found = find_group(s, key);
	}
	if (found)
		return found;
	if (!BSA_RESERVE(s->groups, s->groups_room, s->n_groups + 1, 16) ||
	    !bsa_index_add(&s->index, group_number(key), (uint32_t)s->n_groups))
		return NULL;
	s->groups[s->n_groups] = *key;
	return &s->groups[s->n_groups++];
}

struct bsa_spill_group *bsa_spill_groups(struct bsa_spill *s, size_t *ret_n)
{
	*ret_n = s->n_groups;
	return s->groups;
}

uint64_t bsa_spill_joined(const struct bsa_spill *s)
{
	return s->joined;
}

/* ---- writing ---- */

static int write_chunk(struct bsa_spill *s, struct bsa_spill_group *g, struct chunk *c)
{
	size_t each = FIGURES * (c->head.wide ? sizeof(uint64_t) : sizeof(uint32_t)),
	       bytes = sizeof(c->head) + c->head.n * each;

	if (!c->head.n)
		return 0;
	if (s->fd < 0)
		s->fd = bsa_store_file_scratch(s->file);
	if (s->fd < 0)
		return spill_fail(s, strerror(errno));
	c->head.before = g->last;
	if (bsa_store_file_write(s->fd, c, bytes, s->end))
		return spill_fail(s, strerror(errno));
	g->last = s->end + 1;
	s->end += bytes;
	c->head.n = 0;
	return 0;
}

/* There is no room for one more chunk: write all of them. */
static int write_all_chunks(struct bsa_spill *s)
{
	for (size_t i = 0; i < s->n_groups; i++) {
		struct bsa_spill_group *g = &s->groups[i];

		if ((g->narrow && write_chunk(s, g, g->narrow)) || (g->wide && write_chunk(s, g, g->wide)))
			return -1;
		free(g->narrow);
		free(g->wide);
		g->narrow = g->wide = NULL;
	}
	s->chunks = 0;
	return 0;
}

static int add_row(struct bsa_spill *s, struct bsa_spill_group *g, const uint64_t values[FIGURES], bool wide)
{
	struct chunk **of = wide ? &g->wide : &g->narrow, *c;

	if (!*of) {
		if (s->chunks + 1 + wide > CHUNKS_MAX && write_all_chunks(s))
			return -1;
		*of = malloc(spill_bytes_of(wide));
		if (!*of)
			return spill_fail(s, strerror(ENOMEM));
		(*of)->head = (struct head){ .wide = wide };
		s->chunks += 1 + wide;
	}
	c = *of;
	if (wide)
		memcpy(c->wide + (size_t)c->head.n * FIGURES, values, FIGURES * sizeof(*values));
	else
		for (unsigned i = 0; i < FIGURES; i++)
			c->narrow[c->head.n * FIGURES + i] = (uint32_t)values[i]; /* BSA_NEVER becomes UNKNOWN */
	g->n++;
	s->n_rows++;
	return ++c->head.n == ROWS ? write_chunk(s, g, c) : 0;
}

int bsa_spill_add(struct bsa_spill *s, const struct bsa_execution *x)
{
	uint64_t values[FIGURES], by_cause[BSA_CAUSES];
	struct bsa_spill_group key = {
		.app = x->app,
		.model = x->model,
		.priority = x->priority,
		.path = x->path,
		.cold = x->cold,
		.quiet = x->idle && !x->preemptions && !x->redo && bsa_is_warm(x->path, x->cold),
	};
	struct bsa_spill_group *g = group_of(s, &key);
	unsigned __int128 slowdown;
	bool wide = false;

	if (!g)
		return spill_fail(s, strerror(ENOMEM));
	memcpy(values, x->phase, sizeof(x->phase));
	values[FIGURE_E2E] = x->e2e;
	values[FIGURE_OVERHEAD] = bsa_overhead(x, by_cause);
	values[FIGURE_SLOWDOWN] = BSA_NEVER;
	if (x->e2e != BSA_NEVER && x->run != BSA_NEVER && x->run) {
		slowdown = (unsigned __int128)x->e2e * 10000 / x->run;
		values[FIGURE_SLOWDOWN] = slowdown < BSA_NEVER ? (uint64_t)slowdown : BSA_NEVER - 1;
	}
	values[FIGURE_OWN_RUN] = bsa_own_run(x);
	for (unsigned i = 0; i < BSA_CAUSES; i++) {
		struct bsa_spill_cost *c = &g->costs[i];

		c->n += by_cause[i] > 0;
		c->ns = by_cause[i] > UINT64_MAX - c->ns ? UINT64_MAX : c->ns + by_cause[i];
	}
	for (unsigned i = 0; i < BSA_PHASES; i++) {
		uint64_t ns = i == BSA_RUN ? values[FIGURE_OWN_RUN] : x->phase[i];

		if (!g->n || ns < g->least[i])
			g->least[i] = ns;
	}
	for (unsigned i = 0; i < FIGURES; i++)
		wide |= values[i] != BSA_NEVER && values[i] >= (uint32_t)UNKNOWN;
	return add_row(s, g, values, wide);
}

/* ---- reading ---- */

static void chunk_widen(uint64_t *to, const struct chunk *c)
{
	size_t n = (size_t)c->head.n * FIGURES;

	if (c->head.wide) {
		memcpy(to, c->wide, n * sizeof(*to));
		return;
	}
	for (size_t i = 0; i < n; i++)
		to[i] = c->narrow[i] == (uint32_t)UNKNOWN ? BSA_NEVER : c->narrow[i];
}

static int read_chunk(struct bsa_spill *s, uint64_t at, struct chunk *room)
{
	ssize_t n;

	do
		n = pread(s->fd, room, spill_bytes_of(true), (off_t)at); /* mostly more bytes than the chunk has */
	while (n < 0 && errno == EINTR);
	if (n < (ssize_t)sizeof(room->head) || room->head.n > ROWS)
		return spill_fail(s, strerror(n < 0 ? errno : EIO));
	return 0;
}

int bsa_spill_walk(struct bsa_spill *s, const struct bsa_spill_group *g,
                   void (*take)(void *ctx, const uint64_t *values, size_t n), void *ctx)
{
	struct chunk *room = malloc(spill_bytes_of(true));
	int r = room ? 0 : spill_fail(s, strerror(ENOMEM));

	for (unsigned wide = 0; wide < 2 && !r; wide++) {
		const struct chunk *c = wide ? g->wide : g->narrow;

		if (c && c->head.n) {
			chunk_widen(s->row_room, c);
			take(ctx, s->row_room, c->head.n);
		}
	}
	for (uint64_t at = g->last; at && !r; at = room->head.before) {
		r = read_chunk(s, at - 1, room);
		if (!r) {
			chunk_widen(s->row_room, room);
			take(ctx, s->row_room, room->head.n);
		}
	}
	free(room);
	return r;
}
