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
#include "input/execution.h"
#include "input/holes.h"

enum { HUNG_NS = 100000000, HUNG_TIMES = 2, HEADS_USUAL = 16 };

enum { KINDS_FEW = 8 };

enum { FEW = 1, CHUNK_BYTES = 1 << 16 };

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
	size_t before; /* index + 1 of the one before, of the same model; 0: none */
};

/* Names by id. The texts are in chunks of the samples. */
struct names {
	struct name {
		int64_t id;
		const char *text;
		uint32_t kind,
			kinds; /* of a model: index + 1 of the latest of its first KINDS_FEW kinds; number of these */
	} * of;
	size_t n;
};

/* State of a tally while rows are read. */
struct filling {
	size_t group;       /* index + 1 of the latest group; 0: none */
	size_t gone;        /* number of executions that were lost in part */
	size_t heads;       /* number of executions that began before the recording; a few are normal */
	int64_t longest_ns; /* longest execution that was answered */
	int64_t *open_at;   /* start of each execution still under way; at most one for each stream */
	size_t n_open;
};

struct reading {
	struct bsv_samples *to;
	struct filling *fillings; /* one for each tally */
	size_t *before;           /* of each group: index + 1 of the one before, of the same tally; 0: none */
	struct names apps, models;
	struct kind *kinds;
	size_t n_kinds, latest; /* latest: index of the latest row's kind */
	/*
	 * index + 1: of each kind that its model does not have (names), by a hash of it; of each tally, by a
	 * hash of its names. With 100 000 kinds, a look-up mostly waits for memory.
	 */
	struct bsv_map kind_at, tally_at;
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

/* The name with the id. NULL: none. Borrowed from @n. */
static struct name *name_find(const struct names *n, int64_t id)
{
	const struct name wanted = { .id = id };
	size_t place = n->n ? (size_t)id - (size_t)n->of[0].id : 0; /* if no id is missing */

	if (place < n->n && n->of[place].id == id)
		return &n->of[place];
	return n->n ? bsearch(&wanted, n->of, n->n, sizeof(*n->of), by_id) : NULL;
}

static int names_read(struct names *ret, struct bsv_samples *to, struct bsa_db *db, const char *sql,
                      struct bsa_err *err)
{
	bsv_scoped_query *q = NULL;
	bool ordered = true;
	int r = bsa_query_new(&q, db, sql, err);

	while (r >= 0 && (r = bsa_query_step(q, err)) > 0) {
		size_t bytes;
		const char *text = bsa_query_get_string(q, 1, &bytes);
		char *own = chunk_alloc(to, bytes + 1);

		if (!own || !bsv_array_grow(&ret->of, ret->n, sizeof(*ret->of)))
			return bsv_no_memory(err);
		memcpy(own, text ? text : "", bytes);
		ret->of[ret->n] = (struct name){ .id = bsa_query_get_int(q, 0), .text = own };
		ordered &= !ret->n || ret->of[ret->n - 1].id <= ret->of[ret->n].id;
		ret->n++;
	}
	if (!ordered)
		qsort(ret->of, ret->n, sizeof(*ret->of), by_id);
	return r;
}

/* ---- tallies ---- */

/* The index of the tally that executions like @like belong to. SIZE_MAX: no memory. */
static size_t tally_of(struct reading *r, const struct bsv_tally *like)
{
	const char *names[] = { like->app, like->model, like->path };
	struct bsv_samples *to = r->to;
	size_t n = to->n_tallies;
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
	to->tallies[n] = (struct bsv_tally){ like->app, like->model, like->path, .n = 0, .read = n };
	r->fillings[to->n_tallies++] = (struct filling){ 0 };
	*at = to->n_tallies;
	return n;
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

/* An integer; 0: NULL. */
static int64_t known(int64_t value)
{
	return value == BSA_NULL_INT ? 0 : value;
}

/* @ended: the recording was over by then. */
static int tally_take(struct bsv_samples *s, struct bsv_tally *t, struct filling *f, const struct bsa_execution_row *x,
                      int64_t ended)
{
	const char *status = x->status;
	bool answered = bsv_is(status, "NONE"), missed = x->miss, open = bsv_is(x->quality, "open");
	bool had_deadline = x->deadline != BSA_NULL_INT, lost = bsv_lost_in_part(x), unsure;
	int64_t at = known(x->began), e2e = known(x->e2e_ns);
	unsigned ending = 0;

	/* miss_unknown of reports/samples.sql */
	unsure = had_deadline ? lost || (open && x->deadline < ended) ||
	                                (x->complete && !status && bsv_is(x->path, "fenced"))
	                      : bsv_deadline_unknown(x);
	unsure = unsure && !missed;
	f->gone += lost;
	f->heads += bsv_is(x->quality, "head");
	t->unsure += unsure;
	if (!status && open && !missed && !unsure) {
		/* Keep the start of an execution still under way: whether it hangs is known when all rows were read. */
		if (!bsv_array_grow(&f->open_at, f->n_open, sizeof(*f->open_at)))
			return -1;
		f->open_at[f->n_open++] = at;
		return 0;
	}
	t->unsure_ended += !status;
	if ((had_deadline || missed) && !unsure)
		ending |= BSV_HAD_DEADLINE | (missed ? BSV_MISSED : 0);
	if (status)
		ending |= BSV_ENDED | (answered ? BSV_DUE | BSV_ANSWERED : missed ? 0 : BSV_DUE | BSV_UNANSWERED);
	if (answered && e2e > f->longest_ns)
		f->longest_ns = e2e;
	return tally_ending(s, t, at, ending);
}

/* The kind of the execution. The latest kind is tried first, because neighbours often have the same. */
static struct kind *kind_of(struct reading *r, const struct bsa_execution_row *x)
{
	struct kind wanted = { .app = known(x->app_id),
		               .model = known(x->model_id),
		               .cold = x->cold == BSA_NULL_INT ? -1 : (int)x->cold,
		               .path = x->path ? *x->path : 0,
		               .sides = x->sides ? *x->sides : 0 };
	const int64_t whole[] = { wanted.app, wanted.model, wanted.cold, wanted.path, wanted.sides };
	struct name *app, *model;
	uint64_t key, *at = NULL;

	if (r->n_kinds && kind_equal(&r->kinds[r->latest], &wanted))
		return &r->kinds[r->latest];
	model = name_find(&r->models, wanted.model);
	for (size_t k = model ? model->kind : 0; k; k = r->kinds[k - 1].before)
		if (kind_equal(&r->kinds[k - 1], &wanted))
			return &r->kinds[r->latest = k - 1];
	if (!model || model->kinds == KINDS_FEW) {
		key = bsv_map_text(0, whole, sizeof(whole));
		while ((at = bsv_map_at(&r->kind_at, key)) && *at && !kind_equal(&r->kinds[*at - 1], &wanted))
			key++;
		if (!at)
			return NULL;
		if (*at)
			return &r->kinds[r->latest = *at - 1];
	}
	if (!bsv_array_grow(&r->kinds, r->n_kinds, sizeof(*r->kinds)) || r->n_kinds == UINT32_MAX)
		return NULL;
	wanted.group = SIZE_MAX; /* set when the first execution joins a group */
	app = name_find(&r->apps, wanted.app);
	wanted.tally = tally_of(r, &(struct bsv_tally){ .app = app ? app->text : "",
	                                                .model = model ? model->text : "",
	                                                .path = x->path ? x->path : "" });
	if (wanted.tally == SIZE_MAX)
		return NULL;
	r->latest = r->n_kinds++;
	if (at) {
		*at = r->n_kinds;
	} else {
		wanted.before = model->kind;
		model->kind = (uint32_t)r->n_kinds;
		model->kinds++;
	}
	r->kinds[r->latest] = wanted;
	return &r->kinds[r->latest];
}

/* ---- groups ---- */

/* Set the group of the kind's complete and answered executions. False: no memory. */
static bool kind_group(struct reading *r, struct kind *k, const char *sides)
{
	struct bsv_samples *to = r->to;
	const struct bsv_tally *t = &to->tallies[k->tally];
	size_t *latest = &r->fillings[k->tally].group;
	struct bsv_group like = { .app = t->app,
		                  .model = t->model,
		                  .path = t->path,
		                  .sides = sides ? sides : "",
		                  .tally = k->tally,
		                  .cold = k->cold };

	if (k->group != SIZE_MAX)
		return true;
	/* A tally has few groups: by cold and sides. */
	for (k->group = *latest; k->group && group_order(&to->groups[k->group - 1], &like);)
		k->group = r->before[k->group - 1];
	if (k->group--)
		return true;
	if (!bsv_array_grow(&to->groups, to->n, sizeof(*to->groups)) ||
	    !bsv_array_grow(&r->before, to->n, sizeof(*r->before)))
		return false;
	to->groups[to->n] = like;
	r->before[to->n] = *latest;
	k->group = to->n;
	*latest = ++to->n;
	return true;
}

/* A duration, limited to 2^61 ns (73 years), so that the difference of two does not overflow; 0: NULL. */
static int64_t length_of(int64_t ns)
{
	static const int64_t most = INT64_C(1) << 61;

	return ns == BSA_NULL_INT ? 0 : ns > most ? most : ns < -most ? -most : ns;
}

static int group_take(struct bsv_samples *s, struct bsv_group *g, const struct bsa_execution_row *x)
{
	int64_t *at = few_grow(s, g->at, g->n, sizeof(*at));

	if (!at)
		return -1;
	g->at = at;
	for (int p = 0; p < BSV_PHASES; p++) {
		int64_t value, *values = g->ns[p];
		size_t room = FEW;

		if (p == BSV_OVERHEAD)
			value = length_of(x->e2e_ns) - (length_of(x->run_ns) - length_of(x->redo_ns));
		else
			value = length_of(bsv_phase_of(x, (enum bsv_phase)p));
		if (!values && !value) /* NULL as long as all values are 0 */
			continue;
		while (!values && room <= g->n)
			room *= 2;
		if (values)
			values = few_grow(s, values, g->n, sizeof(*values));
		else
			values = room == FEW ? chunk_alloc(s, FEW * sizeof(*values)) : calloc(room, sizeof(*values));
		if (!values)
			return -1;
		g->ns[p] = values;
		values[g->n] = value;
		g->sum_e2e += p == BSV_E2E ? value : 0;
	}
	g->at[g->n++] = known(x->began);
	return 0;
}

/* Add an execution whose cpu time was read. False: no memory. */
static bool group_take_run(struct bsv_group *g, const struct bsa_execution_row *x)
{
	size_t n = g->cpu.n;

	if (!bsv_times_add(&g->cpu, length_of(x->cpu_ns), known(x->began)) ||
	    !bsv_array_grow(&g->delay, n, sizeof(*g->delay)) || !bsv_array_grow(&g->run, n, sizeof(*g->run)))
		return false;
	g->delay[n] = length_of(x->run_delay_ns);
	g->run[n] = length_of(x->run_ns);
	return true;
}

static int read_rows(struct reading *r, const struct bsv_input *input, struct bsa_err *err)
{
	struct bsa_executions *from = NULL;
	struct bsv_samples *to = r->to;
	struct bsa_execution_row x;
	int s = bsv_input_executions(&from, input, false, err);

	while (s >= 0 && (s = bsa_executions_step(from, &x, err)) > 0) {
		struct kind *k;
		bool taken;

		if (bsv_is(x.path, "prepare"))
			continue;
		to->full |= x.request_spun_ns != BSA_NULL_INT;
		taken = x.reference_ns == BSA_NULL_INT ||
		        bsv_times_add(&to->references, length_of(x.reference_ns), known(x.began));
		k = taken ? kind_of(r, &x) : NULL;
		taken = k && tally_take(to, &to->tallies[k->tally], &r->fillings[k->tally], &x, input->over_by) >= 0;
		if (taken && x.complete && bsv_is(x.status, "NONE")) {
			taken = kind_group(r, k, x.sides) && group_take(to, &to->groups[k->group], &x) >= 0;
			to->executions++;
			if (taken && x.cpu_ns != BSA_NULL_INT) {
				to->run_ns += known(x.run_ns);
				to->cpu_ns += x.cpu_ns;
				taken = group_take_run(&to->groups[k->group], &x);
			}
		} else {
			to->in_parts += !x.complete;
			to->given_up += x.complete;
		}
		if (!taken)
			s = bsv_no_memory(err);
	}
	bsa_executions_free(from);
	return s;
}

static void reading_fini(struct reading *r)
{
	free(r->apps.of);
	free(r->models.of);
	bsv_map_fini(&r->kind_at);
	free(r->before);
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
	int r;

	memset(ret, 0, sizeof(*ret));
	r = names_read(&reading.apps, ret, input->db, bsv_sql_sample_apps, err);
	if (r >= 0)
		r = names_read(&reading.models, ret, input->db, bsv_sql_sample_models, err);
	/* Each model may have a tally of its own: a map that doubles again and again would place each tally twice. */
	if (r >= 0 && !bsv_map_reserve(&reading.tally_at, reading.models.n))
		r = bsv_no_memory(err);
	if (r >= 0)
		r = read_rows(&reading, input, err);
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
