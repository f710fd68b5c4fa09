/*
 * samples.c -- reads executions in one pass, and puts each into its group.
 *
 * A recording may have 100 000 groups of one execution each. So names, and arrays with FEW elements at most, are
 * parts of chunks, which are freed together; an array that grows beyond that is allocated alone.
 */
#include "input/samples.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/vector.h"
#include "input/holes.h"

/* Columns of reports/samples.sql. */
enum {
	APP,
	MODEL,
	PATH,
	COLD,
	SIDES,
	COMPLETE,
	STATUS,
	FULL,
	E2E,
	PREPARE,
	REDO = PREPARE + BSV_PHASES - BSV_PREPARE,
	CPU,
	AT,
	HAD_DEADLINE,
	MISSED,
	MISS_UNKNOWN,
	QUALITY,
	REFERENCE,
	DELAY
};

enum { HUNG_NS = 100000000, HUNG_TIMES = 2, HEADS_USUAL = 16 };

enum { FEW = 2, CHUNK_BYTES = 1 << 16 };

struct bsv_samples_chunk {
	struct bsv_samples_chunk *before;
	size_t used;
	char bytes[];
};

/* The key of a row: rows with the same ids and letters belong to the same group and the same tally. */
struct kind {
	int64_t app, model;
	int cold;
	char path, sides; /* first letters of path and sides, which are unique */
	size_t group, tally;
};

/* Names by id. The texts are in chunks of the samples. */
struct names {
	struct name {
		int64_t id;
		const char *text;
	} * of;
	size_t n;
};

/* State of a tally while rows are read. */
struct filling {
	size_t gone;        /* number of executions that were lost in part */
	size_t heads;       /* number of executions that began before the recording; a few are normal */
	int64_t longest_ns; /* longest execution that was answered */
	int64_t *open_at;   /* start of each execution still under way; at most one for each stream */
	size_t n_open;
};

struct reading {
	struct bsv_samples *to;
	struct filling *fillings; /* one for each tally */
	struct names apps, models;
	struct kind *kinds;
	size_t n_kinds, latest; /* latest: index of the latest row's kind */
	/* index + 1 of each kind, by a hash of it; of each group and tally, by a hash of its names */
	struct bsv_map kind_at, group_at, tally_at;
};

static int int_order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static bool kind_equal(const struct kind *a, const struct kind *b)
{
	return a->model == b->model && a->app == b->app && a->cold == b->cold && a->path == b->path &&
	       a->sides == b->sides;
}

/* The order of bsv_group_compare, if the tallies are in the order of bsv_tally_compare. */
static int group_order(const void *x, const void *y)
{
	const struct bsv_group *a = x, *b = y;
	int r = int_order((int64_t)a->tally, (int64_t)b->tally);

	r = r ? r : a->cold - b->cold;
	return r ? r : strcmp(a->sides, b->sides);
}

static int tally_order(const void *x, const void *y)
{
	return bsv_tally_compare(x, y);
}

/* ---- memory ---- */

/* @bytes zeros, freed with @s. NULL: no memory. */
static void *chunk_alloc(struct bsv_samples *s, size_t bytes)
{
	struct bsv_samples_chunk *c = s->chunks;
	size_t most = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
	void *ret;

	bytes = (bytes + 7) & ~(size_t)7;
	if (!c || c->used + bytes > CHUNK_BYTES) {
		c = calloc(1, sizeof(*c) + most + 8);
		if (!c)
			return NULL;
		c->before = s->chunks;
		s->chunks = c;
	}
	ret = c->bytes + c->used;
	c->used += bytes;
	return ret;
}

static const char *chunk_text(struct bsv_samples *s, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *ret = chunk_alloc(s, bytes);

	return ret ? memcpy(ret, text, bytes) : NULL;
}

/* @array of @n elements of @size bytes, with room for one more; new elements are 0. NULL: no memory. */
static void *few_grow(struct bsv_samples *s, void *array, size_t n, size_t size)
{
	void *larger;

	if (!n)
		return chunk_alloc(s, FEW * size);
	if (n < FEW || (n & (n - 1)))
		return array;
	larger = n == FEW ? malloc(2 * n * size) : reallocarray(array, 2 * n, size);
	if (!larger)
		return NULL;
	if (n == FEW)
		memcpy(larger, array, n * size);
	memset((char *)larger + n * size, 0, n * size);
	return larger;
}

static void few_free(void *array, size_t n)
{
	if (n > FEW)
		free(array);
}

/* ---- names ---- */

static int by_id(const void *x, const void *y)
{
	const struct name *a = x, *b = y;

	return int_order(a->id, b->id);
}

static const char *sample_name_of(const struct names *n, int64_t id)
{
	const struct name wanted = { id, NULL };
	const struct name *found = n->n ? bsearch(&wanted, n->of, n->n, sizeof(*n->of), by_id) : NULL;

	return found ? found->text : "";
}

static int names_read(struct names *ret, struct bsv_samples *to, struct bsa_db *db, const char *sql,
                      struct bsa_err *err)
{
	bsv_scoped_query *q = NULL;
	bool ordered = true;
	int r = bsa_query_new(&q, db, sql, err);

	while (r >= 0 && (r = bsa_query_step(q, err)) > 0) {
		const char *text = bsa_query_get_string(q, 1, NULL);

		if (!bsv_array_grow(&ret->of, ret->n, sizeof(*ret->of)))
			return bsv_no_memory(err);
		ret->of[ret->n].id = bsa_query_get_int(q, 0);
		ret->of[ret->n].text = chunk_text(to, text ? text : "");
		if (!ret->of[ret->n].text)
			return bsv_no_memory(err);
		ordered &= !ret->n || ret->of[ret->n - 1].id <= ret->of[ret->n].id;
		ret->n++;
	}
	if (!ordered)
		qsort(ret->of, ret->n, sizeof(*ret->of), by_id);
	return r;
}

/* ---- groups ---- */

/* The index of the group of the tally @tally that executions like @like belong to. SIZE_MAX: no memory. */
static size_t group_of(struct reading *r, const struct bsv_group *like)
{
	int64_t whole[] = { (int64_t)like->tally, like->cold };
	uint64_t key = bsv_map_text(bsv_map_text(0, whole, sizeof(whole)), like->sides, strlen(like->sides)), *at;
	struct bsv_samples *to = r->to;
	struct bsv_group *g;

	while ((at = bsv_map_at(&r->group_at, key)) && *at && group_order(&to->groups[*at - 1], like))
		key++;
	if (!at || *at)
		return at ? *at - 1 : SIZE_MAX;
	if (!bsv_array_grow(&to->groups, to->n, sizeof(*to->groups)))
		return SIZE_MAX;
	g = &to->groups[to->n];
	*g = *like;
	g->sides = chunk_text(to, like->sides);
	*at = ++to->n;
	return g->sides ? to->n - 1 : SIZE_MAX;
}

/* ---- tallies ---- */

/* The index of the tally that executions like @like belong to, whose names are in chunks. SIZE_MAX: no memory. */
static size_t tally_of(struct reading *r, const struct bsv_tally *like)
{
	const char *names[] = { like->app, like->model, like->path };
	struct bsv_samples *to = r->to;
	size_t n = to->n_tallies;
	struct bsv_tally *t;
	uint64_t key = 0, *at;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		key = bsv_map_text(key, names[i], strlen(names[i]));
	while ((at = bsv_map_at(&r->tally_at, key)) && *at && bsv_tally_compare(&to->tallies[*at - 1], like))
		key++;
	if (!at || *at)
		return at ? *at - 1 : SIZE_MAX;
	if (!bsv_array_grow(&to->tallies, n, sizeof(*to->tallies)) ||
	    !bsv_array_grow(&r->fillings, n, sizeof(*r->fillings)))
		return SIZE_MAX;
	t = &to->tallies[n];
	*t = (struct bsv_tally){ like->app, like->model, chunk_text(to, like->path), .n = 0, .read = n };
	r->fillings[to->n_tallies++] = (struct filling){ 0 };
	*at = to->n_tallies;
	return t->path ? n : SIZE_MAX;
}

static int tally_ending(struct bsv_samples *s, struct bsv_tally *t, int64_t at, unsigned ending)
{
	int64_t *ats = few_grow(s, t->at, t->n, sizeof(*t->at));
	uint8_t *endings;

	if (!ats)
		return -1;
	t->at = ats;
	endings = few_grow(s, t->endings, t->n, sizeof(*t->endings));
	if (!endings)
		return -1;
	t->endings = endings;
	t->at[t->n] = at;
	t->endings[t->n++] = (uint8_t)ending;
	return 0;
}

static int tally_take(struct bsv_samples *s, struct bsv_tally *t, struct filling *f, const struct bsa_query *q)
{
	const char *status = bsa_query_get_string(q, STATUS, NULL), *quality = bsa_query_get_string(q, QUALITY, NULL);
	bool answered = status && !strcmp(status, "NONE"), missed = bsa_query_get_int(q, MISSED) != 0;
	bool unsure = bsa_query_get_int(q, MISS_UNKNOWN) != 0;
	int64_t at = bsa_query_get_int(q, AT), e2e = bsa_query_get_int(q, E2E);
	unsigned ending = 0;

	f->gone += quality && (!strcmp(quality, "gap") || !strcmp(quality, "tail"));
	f->heads += quality && !strcmp(quality, "head");
	t->unsure += unsure;
	if (!status && quality && !strcmp(quality, "open") && !missed && !unsure) {
		/* Keep the start of an execution still under way: whether it hangs is known when all rows were read. */
		if (!bsv_array_grow(&f->open_at, f->n_open, sizeof(*f->open_at)))
			return -1;
		f->open_at[f->n_open++] = at;
		return 0;
	}
	t->unsure_ended += !status;
	if (bsa_query_get_int(q, HAD_DEADLINE) && !unsure)
		ending |= BSV_HAD_DEADLINE | (missed ? BSV_MISSED : 0);
	if (status)
		ending |= BSV_ENDED | (answered ? BSV_DUE | BSV_ANSWERED : missed ? 0 : BSV_DUE | BSV_UNANSWERED);
	if (answered && e2e > f->longest_ns)
		f->longest_ns = e2e;
	return tally_ending(s, t, at, ending);
}

static char first_letter(const struct bsa_query *q, size_t column)
{
	const char *text = bsa_query_get_string(q, column, NULL);

	return text ? *text : 0;
}

/* The kind of the row. The latest kind is tried first, because neighbours often have the same. */
static struct kind *kind_of(struct reading *r, const struct bsa_query *q)
{
	struct kind wanted = { .app = bsa_query_get_int(q, APP),
		               .model = bsa_query_get_int(q, MODEL),
		               .cold = bsa_query_type(q, COLD) == BSA_NULL ? -1 : (int)bsa_query_get_int(q, COLD),
		               .path = first_letter(q, PATH),
		               .sides = first_letter(q, SIDES) };
	const int64_t whole[] = { wanted.app, wanted.model, wanted.cold, wanted.path, wanted.sides };
	uint64_t key, *at;
	const char *path;

	if (r->n_kinds && kind_equal(&r->kinds[r->latest], &wanted))
		return &r->kinds[r->latest];
	key = bsv_map_text(0, whole, sizeof(whole));
	while ((at = bsv_map_at(&r->kind_at, key)) && *at && !kind_equal(&r->kinds[*at - 1], &wanted))
		key++;
	if (!at || (!*at && !bsv_array_grow(&r->kinds, r->n_kinds, sizeof(*r->kinds))))
		return NULL;
	if (*at)
		return &r->kinds[r->latest = *at - 1];
	path = bsa_query_get_string(q, PATH, NULL);
	wanted.group = SIZE_MAX; /* set when the first execution joins a group */
	wanted.tally = tally_of(r, &(struct bsv_tally){ .app = sample_name_of(&r->apps, wanted.app),
	                                                .model = sample_name_of(&r->models, wanted.model),
	                                                .path = path ? path : "" });
	if (wanted.tally == SIZE_MAX)
		return NULL;
	r->latest = r->n_kinds;
	r->kinds[r->n_kinds++] = wanted;
	*at = r->n_kinds;
	return &r->kinds[r->latest];
}

/* Find the group of the kind's complete and answered executions. False: no memory. */
static bool kind_group(struct reading *r, struct kind *k, const struct bsa_query *q)
{
	const char *sides = bsa_query_get_string(q, SIDES, NULL);
	const struct bsv_tally *t = &r->to->tallies[k->tally];
	struct bsv_group like = { .app = t->app,
		                  .model = t->model,
		                  .path = t->path,
		                  .sides = sides ? sides : "",
		                  .tally = k->tally,
		                  .cold = k->cold };

	if (k->group == SIZE_MAX)
		k->group = group_of(r, &like);
	return k->group != SIZE_MAX;
}

/* Make room for one more execution of the group. -1: no memory. */
static int group_grow(struct bsv_samples *s, struct bsv_group *g)
{
	int64_t *at = few_grow(s, g->at, g->n, sizeof(*at));

	if (!at)
		return -1;
	g->at = at;
	for (int p = 0; p < BSV_PHASES; p++) {
		int64_t *values = g->ns[p] ? few_grow(s, g->ns[p], g->n, sizeof(*values)) : NULL;

		if (g->ns[p] && !values)
			return -1;
		g->ns[p] = values;
	}
	return 0;
}

/* A duration, limited to 2^61 ns (73 years), so that the difference of two does not overflow. */
static int64_t cell_length(const struct bsa_query *q, size_t column)
{
	static const int64_t most = INT64_C(1) << 61;
	int64_t ns = bsa_query_get_int(q, column);

	return ns > most ? most : ns < -most ? -most : ns;
}

static int group_take(struct bsv_samples *s, struct bsv_group *g, const struct bsa_query *q)
{
	if (group_grow(s, g) < 0)
		return -1;
	for (int p = 0; p < BSV_PHASES; p++) {
		int64_t value;

		if (p == BSV_OVERHEAD)
			value = cell_length(q, E2E) -
			        (cell_length(q, PREPARE + BSV_RUN - BSV_PREPARE) - cell_length(q, REDO));
		else
			value = cell_length(q, p == BSV_E2E ? E2E : (size_t)(PREPARE + p - BSV_PREPARE));
		if (value && !g->ns[p]) { /* NULL until now, because all values were 0 */
			size_t room = FEW;

			while (room <= g->n)
				room *= 2;
			g->ns[p] = room == FEW ? chunk_alloc(s, FEW * sizeof(int64_t)) : calloc(room, sizeof(int64_t));
			if (!g->ns[p])
				return -1;
		}
		if (g->ns[p])
			g->ns[p][g->n] = value;
		g->sum_e2e += p == BSV_E2E ? value : 0;
	}
	g->at[g->n++] = bsa_query_get_int(q, AT);
	return 0;
}

/* Add an execution whose cpu time was read. False: no memory. */
static bool group_take_run(struct bsv_group *g, const struct bsa_query *q)
{
	size_t n = g->cpu.n;

	if (!bsv_times_add(&g->cpu, cell_length(q, CPU), bsa_query_get_int(q, AT)) ||
	    !bsv_array_grow(&g->delay, n, sizeof(*g->delay)) || !bsv_array_grow(&g->run, n, sizeof(*g->run)))
		return false;
	g->delay[n] = cell_length(q, DELAY);
	g->run[n] = cell_length(q, PREPARE + BSV_RUN - BSV_PREPARE);
	return true;
}

static int read_rows(struct reading *r, struct bsa_db *db, const char *sql, struct bsa_err *err)
{
	bsv_scoped_query *q = NULL;
	struct bsv_samples *to = r->to;
	int s = bsa_query_new(&q, db, sql, err);

	while (s >= 0 && (s = bsa_query_step(q, err)) > 0) {
		const char *status = bsa_query_get_string(q, STATUS, NULL);
		struct kind *k;

		to->full |= bsa_query_get_int(q, FULL) != 0;
		if (bsa_query_type(q, REFERENCE) != BSA_NULL &&
		    !bsv_times_add(&to->references, cell_length(q, REFERENCE), bsa_query_get_int(q, AT)))
			return bsv_no_memory(err);
		k = kind_of(r, q);
		if (!k || tally_take(to, &to->tallies[k->tally], &r->fillings[k->tally], q) < 0)
			return bsv_no_memory(err);
		if (!bsa_query_get_int(q, COMPLETE)) {
			to->in_parts++;
			continue;
		}
		if (!status || strcmp(status, "NONE")) {
			to->given_up++;
			continue;
		}
		if (!kind_group(r, k, q) || group_take(to, &to->groups[k->group], q) < 0)
			return bsv_no_memory(err);
		to->executions++;
		if (bsa_query_type(q, CPU) == BSA_NULL)
			continue;
		to->run_ns += bsa_query_get_int(q, PREPARE + BSV_RUN - BSV_PREPARE);
		to->cpu_ns += bsa_query_get_int(q, CPU);
		if (!group_take_run(&to->groups[k->group], q))
			return bsv_no_memory(err);
	}
	return s;
}

static void reading_fini(struct reading *r)
{
	free(r->apps.of);
	free(r->models.of);
	bsv_map_fini(&r->kind_at);
	bsv_map_fini(&r->group_at);
	bsv_map_fini(&r->tally_at);
	free(r->kinds);
	for (size_t i = 0; i < r->to->n_tallies; i++)
		free(r->fillings[i].open_at);
	free(r->fillings);
}

/* Find out how much of each tally may be hidden by losses. */
static int tallies_set_hidden(struct reading *r, struct bsv_input *input, struct bsa_err *err)
{
	__attribute__((cleanup(bsv_holes_fini))) struct bsv_holes holes;
	struct bsv_samples *to = r->to;
	int s = bsv_holes_read(&holes, input, err);

	for (size_t i = 0; s >= 0 && i < to->n_tallies; i++) {
		struct bsv_tally *t = &to->tallies[i];
		struct filling *f = &r->fillings[i];
		size_t heads = f->heads > HEADS_USUAL ? f->heads : 0;
		double gone = t->n ? (double)(f->gone + heads) / (double)t->n : 0;

		t->hidden = fmax(bsv_holes_share(&holes, t->app, &t->touched), fmin(gone, 1));
		/*
		 * An execution that has been under way for much longer than any that was answered
		 * counts as unanswered.
		 */
		for (size_t k = 0; k < f->n_open; k++) {
			double ns = (double)input->ended - (double)f->open_at[k];

			if (ns > HUNG_NS && ns > HUNG_TIMES * (double)f->longest_ns &&
			    tally_ending(to, t, f->open_at[k], BSV_ENDED | BSV_DUE | BSV_UNANSWERED) < 0)
				return bsv_no_memory(err);
		}
	}
	return s;
}

/*
 * Order tallies and groups by name. A group is part of a tally: what may hide executions of the tally may hide
 * executions of the group.
 */
static int samples_order(struct bsv_samples *s, struct bsa_err *err)
{
	size_t *places =
		malloc((s->n_tallies + 1) * sizeof(*places)); /* place of each tally, in the order of reading */

	if (!places)
		return bsv_no_memory(err);
	if (s->n_tallies > 1)
		qsort(s->tallies, s->n_tallies, sizeof(*s->tallies), tally_order);
	for (size_t i = 0; i < s->n_tallies; i++)
		places[s->tallies[i].read] = i;
	for (size_t i = 0; i < s->n; i++) {
		struct bsv_group *g = &s->groups[i];

		g->tally = places[g->tally];
		g->touched = s->tallies[g->tally].touched;
		g->hidden = s->tallies[g->tally].hidden;
	}
	free(places);
	if (s->n > 1)
		qsort(s->groups, s->n, sizeof(*s->groups), group_order);
	return 0;
}

char *bsv_samples_sql(const struct bsv_input *input)
{
	char ended[24];

	snprintf(ended, sizeof(ended), "%" PRId64, input->over_by);
	return bsv_fill(bsv_sql_samples,
	                (const struct bsv_placeholder[]){ { "with", input->with },
	                                                  { "ended", ended },
	                                                  { "deadline_unknown", bsv_sql_deadline_unknown },
	                                                  { NULL, NULL } });
}

int bsv_samples_read(struct bsv_samples *ret, struct bsv_input *input, struct bsa_err *err)
{
	__attribute__((cleanup(reading_fini))) struct reading reading = { .to = ret };
	bsv_scoped_text *sql = bsv_samples_sql(input);
	int r;

	memset(ret, 0, sizeof(*ret));
	if (!sql)
		return bsv_no_memory(err);
	r = names_read(&reading.apps, ret, input->db, bsv_sql_sample_apps, err);
	if (r >= 0)
		r = names_read(&reading.models, ret, input->db, bsv_sql_sample_models, err);
	if (r >= 0)
		r = read_rows(&reading, input->db, sql, err);
	if (r >= 0)
		r = tallies_set_hidden(&reading, input, err);
	return r < 0 ? r : samples_order(ret, err);
}

void bsv_samples_fini(struct bsv_samples *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct bsv_group *g = &s->groups[i];

		for (int p = 0; p < BSV_PHASES; p++)
			few_free(g->ns[p], g->n);
		few_free(g->at, g->n);
		bsv_times_fini(&g->cpu);
		free(g->delay);
		free(g->run);
	}
	for (size_t i = 0; i < s->n_tallies; i++) {
		few_free(s->tallies[i].at, s->tallies[i].n);
		few_free(s->tallies[i].endings, s->tallies[i].n);
	}
	for (struct bsv_samples_chunk *c = s->chunks, *before; c; c = before) {
		before = c->before;
		free(c);
	}
	bsv_times_fini(&s->references);
	free(s->tallies);
	free(s->groups);
	memset(s, 0, sizeof(*s));
}
