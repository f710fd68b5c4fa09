/* metrics.c -- keeps metrics with their label sets and values, and prints them. */
#include "metrics/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/map.h"
#include "base/vector.h"

#define COUNTER BSV_COUNTER
#define GAUGE BSV_GAUGE
#define HISTOGRAM BSV_HISTOGRAM
#define NONE BSV_UNIT_NONE
#define SECONDS BSV_UNIT_SECONDS
#define BYTES BSV_UNIT_BYTES
const struct bsv_metric_info bsv_metric_infos[BSV_METRICS] = {
#define METRIC(id, type, name, unit, most, labels, whole, help) { name, labels, help, type, unit, most, whole },
#include "metrics/metrics.def"
};

/* The limit of series, for any names of apps and models: each metric's sets, and one that is `other`. */
enum {
#define METRIC(id, type, name, unit, most, labels, whole, help) \
	SERIES_OF_##id = (most + 1) * ((int)(type) == (int)BSV_HISTOGRAM ? BSV_BUCKETS_MAX + 3 : 1),
#include "metrics/metrics.def"
	SERIES_IN_ALL = 0
#define METRIC(id, type, name, unit, most, labels, whole, help) +SERIES_OF_##id
#include "metrics/metrics.def"
};
_Static_assert((int)SERIES_IN_ALL <= (int)BSV_SERIES_MAX, "metrics.def allows more series than there may be");

static const char other[] = "other";

struct bsv_metric_set {
	char *values[BSV_METRIC_LABELS_MAX];
	char *labels; /* name="value",... of all of them, as it is printed: a histogram's are, many times */
	struct bsv_metrics *owner;
	uint64_t hash;    /* of the values */
	uint64_t used;    /* time of the last call of bsv_metrics_set for it */
	uint64_t scrapes; /* number of scrapes before that call */
	uint32_t user;    /* uid of the user that the set counts for */
	enum bsv_metric id;
	bool is_other;
	int64_t value; /* for a histogram: the sum */
	uint64_t n;    /* for a histogram: the number of observations */
	uint64_t *buckets;
	int64_t execution, exemplar, exemplar_at; /* execution 0: none */
};

struct holder {
	uint32_t user;
	size_t n; /* sets */
};

struct family {
	/* in the order in which they came; then the one that is `other`, if there is one */
	struct bsv_metric_set **sets;
	size_t n;
	struct bsv_map numbers; /* of a set from 1, by the hash of its labels */
	struct bsv_metric_set *other;
	struct holder *holders; /* users with sets; owned */
	size_t n_holders;
	uint64_t none_idle_until; /* no set is idle before this time, unless a scrape comes first */
};

struct bsv_metrics {
	struct bsv_buckets buckets;
	char bounds[BSV_BUCKETS_MAX][BSV_BOUND_TEXT];
	struct family families[BSV_METRICS];
	uint64_t now, scrapes;
	uint32_t user; /* the user that new sets count for */
	bool no_memory;
};

/* ---- buckets ---- */

void bsv_buckets_init(struct bsv_buckets *b)
{
	static const int64_t usual[] = { 10000,     25000,     50000,     100000,     250000,     500000,
		                         1000000,   2500000,   5000000,   10000000,   25000000,   50000000,
		                         100000000, 250000000, 500000000, 1000000000, 2500000000, 10000000000 };

	*b = (struct bsv_buckets){ .n = 0 };
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		b->bounds[b->n++] = usual[i];
}

bool bsv_buckets_add(struct bsv_buckets *b, int64_t bound)
{
	size_t at = 0;

	while (at < b->n && b->bounds[at] < bound)
		at++;
	if (at < b->n && b->bounds[at] == bound)
		return true;
	if (bound <= 0 || b->n == BSV_BUCKETS_MAX)
		return false;
	memmove(&b->bounds[at + 1], &b->bounds[at], (b->n - at) * sizeof(*b->bounds));
	b->bounds[at] = bound;
	b->n++;
	return true;
}

const char *bsv_bound_text(char to[BSV_BOUND_TEXT], int64_t ns)
{
	double seconds = (double)ns / 1e9;
	int whole = 1; /* digits before the point, which %g would make an exponent of */

	for (int64_t left = ns / 1000000000; left >= 10; left /= 10)
		whole++;
	for (int digits = whole; digits <= 17; digits++) {
		snprintf(to, BSV_BOUND_TEXT - 4, "%.*g", digits, seconds);
		if (strtod(to, NULL) == seconds)
			break;
	}
	if (!strpbrk(to, ".e"))
		strcat(to, ".0");
	return to;
}

/* ---- sets ---- */

const char *bsv_metric_suffix(const struct bsv_metric_info *m)
{
	return m->type == BSV_COUNTER ? "_total" : "";
}

struct bsv_metrics *bsv_metrics_new(const struct bsv_buckets *buckets)
{
	struct bsv_metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->buckets = *buckets;
	m->user = BSV_METRIC_NOBODY;
	for (size_t i = 0; i < buckets->n; i++)
		bsv_bound_text(m->bounds[i], buckets->bounds[i]);
	return m;
}

static void set_free(struct bsv_metric_set *s)
{
	for (size_t i = 0; i < BSV_METRIC_LABELS_MAX; i++)
		free(s->values[i]);
	free(s->labels);
	free(s->buckets);
	free(s);
}

struct bsv_metrics *bsv_metrics_free(struct bsv_metrics *m)
{
	if (!m)
		return NULL;
	for (size_t i = 0; i < BSV_METRICS; i++) {
		struct family *f = &m->families[i];

		for (size_t j = 0; j < f->n; j++)
			set_free(f->sets[j]);
		free(f->sets);
		bsv_map_fini(&f->numbers);
		free(f->holders);
	}
	free(m);
	return NULL;
}

static size_t label_count(enum bsv_metric id)
{
	const char *labels = bsv_metric_infos[id].labels;
	size_t n = *labels != 0;

	for (; *labels; labels++)
		n += *labels == ',';
	return n;
}

/*
 * The value of a label as it is kept: valid UTF-8 of at most BSV_LABEL_BYTES_MAX bytes, without
 * what a terminal obeys.
 */
static void clean(char to[BSV_LABEL_BYTES_MAX + 1], const char *from)
{
	size_t left = from ? strlen(from) : 0, used = 0;

	while (left) {
		uint32_t letter;
		size_t n = bsv_letter(from, left, &letter), taken = n ? n : 1;
		bool shown = n && !bsv_obeyed(letter);

		if (used + (shown ? n : 1) > BSV_LABEL_BYTES_MAX)
			break;
		memcpy(to + used, shown ? from : "?", shown ? n : 1);
		used += shown ? n : 1;
		from += taken;
		left -= taken;
	}
	to[used] = 0;
	if (!used)
		strcpy(to, "unknown");
	if (!strcmp(to, other)) /* an app may be called that: it is not the sum of what is left */
		strcpy(to, "'other'");
}

typedef char cleaned[BSV_METRIC_LABELS_MAX][BSV_LABEL_BYTES_MAX + 1];

static bool is_set(const struct bsv_metric_set *s, cleaned values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(s->values[i], values[i]) != 0)
			return false;
	return true;
}

static uint64_t hash_of(cleaned values, size_t n)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < n; i++)
		hash = bsv_map_text(hash, values[i], strlen(values[i]) + 1);
	return hash;
}

/* NULL: there is no such set. */
static struct bsv_metric_set *set_find(const struct family *f, uint64_t hash, cleaned values, size_t n)
{
	uint64_t number;

	for (uint64_t key = hash; (number = bsv_map_get(&f->numbers, key)); key++)
		if (is_set(f->sets[number - 1], values, n))
			return f->sets[number - 1];
	return NULL;
}

/* The key for one more set with this hash. */
static uint64_t free_key(const struct family *f, uint64_t hash)
{
	while (bsv_map_get(&f->numbers, hash))
		hash++;
	return hash;
}

/* NULL: no memory. */
static struct bsv_metric_set *set_new(struct bsv_metrics *m, enum bsv_metric id, cleaned values, size_t n)
{
	struct bsv_metric_set *s = calloc(1, sizeof(*s));
	const char *label = bsv_metric_infos[id].labels;
	bool whole = s;
	size_t bytes;
	FILE *to;

	if (!s)
		return NULL;
	s->owner = m;
	s->id = id;
	for (size_t i = 0; i < n; i++)
		whole &= (s->values[i] = strdup(values[i])) != NULL;
	to = whole ? open_memstream(&s->labels, &bytes) : NULL;
	for (size_t i = 0; to && *label; i++) {
		int length = (int)strcspn(label, ",");

		fprintf(to, "%s%.*s=", i ? "," : "", length, label);
		bsv_metrics_quoted(to, s->values[i]);
		label += length + (label[length] == ',');
	}
	whole = to && !fclose(to);
	if (bsv_metric_infos[id].type == BSV_HISTOGRAM)
		whole &= (s->buckets = calloc(m->buckets.n + 1, sizeof(*s->buckets))) != NULL;
	if (whole)
		return s;
	set_free(s);
	return NULL;
}

/* ---- users ---- */

/* NULL: the user has no set. */
static struct holder *holder_find(const struct family *f, uint32_t user)
{
	for (size_t i = 0; i < f->n_holders; i++)
		if (f->holders[i].user == user)
			return &f->holders[i];
	return NULL;
}

static void holder_drops(struct family *f, uint32_t user)
{
	struct holder *h = holder_find(f, user);

	assert(h && h->n);
	if (!--h->n)
		*h = f->holders[--f->n_holders];
}

static struct bsv_metric_set *family_add(struct bsv_metrics *m, enum bsv_metric id, cleaned values, size_t n)
{
	struct family *f = &m->families[id];
	struct bsv_metric_set *s = set_new(m, id, values, n);
	struct holder *h = holder_find(f, m->user);

	if (s && !h && bsv_array_grow(&f->holders, f->n_holders, sizeof(*f->holders))) {
		h = &f->holders[f->n_holders++];
		*h = (struct holder){ .user = m->user };
	}
	if (s && !h) {
		set_free(s);
		s = NULL;
	}
	if (!s) {
		m->no_memory = true;
		return NULL;
	}
	h->n++;
	s->user = m->user;
	f->sets[f->n++] = s;
	return s;
}

static void count_other(struct bsv_metrics *m, enum bsv_metric id)
{
	const char *name[] = { bsv_metric_infos[id].name };

	if (id != BSV_METRIC_OTHER)
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_OTHER, name), 1);
}

/* ---- idle sets ---- */

/* Has a scraper read the set since its last use? `other` is always in use. */
static bool was_scraped(const struct bsv_metrics *m, const struct bsv_metric_set *s)
{
	return !s->is_other && s->scrapes < m->scrapes;
}

/* Number the sets that are left after others were dropped. */
static void renumber_sets(struct family *f)
{
	bsv_map_clear(&f->numbers);
	for (size_t i = 0; i < f->n; i++) {
		uint64_t *number;

		if (f->sets[i] == f->other)
			continue;
		number = bsv_map_at(&f->numbers, free_key(f, f->sets[i]->hash));
		assert(number); /* the map had more sets before */
		*number = i + 1;
	}
}

/* Drop the idle sets. Returns how many there were. */
static size_t drop_idle(struct bsv_metrics *m, enum bsv_metric id)
{
	struct family *f = &m->families[id];
	uint64_t none_idle_until = UINT64_MAX;
	size_t n = 0, dropped;

	if (m->now < f->none_idle_until)
		return 0;
	for (size_t i = 0; i < f->n; i++) {
		struct bsv_metric_set *s = f->sets[i];

		if (was_scraped(m, s) && m->now - s->used >= BSV_METRIC_IDLE_NS) {
			holder_drops(f, s->user);
			set_free(s);
			continue;
		}
		if (was_scraped(m, s) && s->used + BSV_METRIC_IDLE_NS < none_idle_until)
			none_idle_until = s->used + BSV_METRIC_IDLE_NS;
		f->sets[n++] = s;
	}
	dropped = f->n - n;
	f->n = n;
	f->none_idle_until = none_idle_until;
	if (dropped)
		renumber_sets(f);
	return dropped;
}

/*
 * Drop a set of the user with the most, if the current user still has fewer with one more. Returns
 * how many were dropped.
 */
static size_t drop_of_most(struct bsv_metrics *m, enum bsv_metric id)
{
	struct family *f = &m->families[id];
	const struct holder *mine = holder_find(f, m->user), *most = NULL;
	size_t at = f->n;

	for (size_t i = 0; i < f->n_holders; i++)
		if (!most || f->holders[i].n > most->n)
			most = &f->holders[i];
	if (!most || (mine ? mine->n : 0) + 1 >= most->n)
		return 0;

	/* The set that was not used for the longest time. */
	for (size_t i = 0; i < f->n; i++)
		if (f->sets[i]->user == most->user && !f->sets[i]->is_other &&
		    (at == f->n || f->sets[i]->used < f->sets[at]->used))
			at = i;
	if (at == f->n)
		return 0;
	holder_drops(f, most->user);
	set_free(f->sets[at]);
	memmove(&f->sets[at], &f->sets[at + 1], (--f->n - at) * sizeof(*f->sets));
	renumber_sets(f);
	return 1;
}

/* Whether there is a place for one more set. */
static bool has_place(struct bsv_metrics *m, enum bsv_metric id)
{
	const struct family *f = &m->families[id];
	const char *name[] = { bsv_metric_infos[id].name };
	size_t dropped;

	if (f->n - (f->other != NULL) < bsv_metric_infos[id].most)
		return true;
	dropped = drop_idle(m, id);
	if (!dropped)
		dropped = drop_of_most(m, id);
	if (dropped)
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_DROPPED, name), (int64_t)dropped);
	return dropped;
}

void bsv_metrics_at(struct bsv_metrics *m, uint64_t now)
{
	assert(now >= m->now);
	m->now = now;
}

void bsv_metrics_for(struct bsv_metrics *m, uint32_t user)
{
	m->user = user;
}

void bsv_metrics_scraped(struct bsv_metrics *m)
{
	m->scrapes++;
	for (size_t i = 0; i < BSV_METRICS; i++)
		m->families[i].none_idle_until = 0;
}

static struct bsv_metric_set *set_used(struct bsv_metrics *m, struct bsv_metric_set *s)
{
	s->used = m->now;
	s->scrapes = m->scrapes;
	return s;
}

struct bsv_metric_set *bsv_metrics_set(struct bsv_metrics *m, enum bsv_metric id, const char *const *values)
{
	struct family *f = &m->families[id];
	size_t n = label_count(id);
	struct bsv_metric_set *s;
	uint64_t hash, *number;
	cleaned own;

	for (size_t i = 0; i < n; i++)
		clean(own[i], values[i]);
	if (!f->sets)
		f->sets = calloc(bsv_metric_infos[id].most + 1, sizeof(*f->sets));
	if (!f->sets) { /* another set of the family tries again */
		m->no_memory = true;
		return NULL;
	}
	hash = hash_of(own, n);
	s = set_find(f, hash, own, n);
	if (s)
		return set_used(m, s);
	if (!has_place(m, id)) {
		for (size_t i = 0; i < n; i++)
			strcpy(own[i], other);
		if (!f->other)
			f->other = family_add(m, id, own, n);
		if (f->other)
			f->other->is_other = true;
		return f->other;
	}
	number = bsv_map_at(&f->numbers, free_key(f, hash));
	if (!number)
		m->no_memory = true;
	s = number ? family_add(m, id, own, n) : NULL;
	if (!s)
		return NULL;
	s->hash = hash;
	*number = f->n;
	return set_used(m, s);
}

/* ---- values ---- */

static int64_t sum(int64_t a, int64_t b)
{
	int64_t ret;

	return __builtin_add_overflow(a, b, &ret) ? INT64_MAX : ret;
}

void bsv_metric_add(struct bsv_metric_set *s, int64_t value)
{
	if (!s)
		return;
	if (s->is_other)
		count_other(s->owner, s->id);
	if (bsv_metric_infos[s->id].type == BSV_GAUGE && s->is_other)
		s->value = value > s->value ? value : s->value;
	else
		s->value = sum(s->value, value);
}

void bsv_metric_raise(struct bsv_metric_set *s, int64_t value)
{
	if (s && value > s->value)
		s->value = value;
}

void bsv_metric_put(struct bsv_metric_set *s, int64_t value)
{
	if (s)
		s->value = value;
}

void bsv_metric_observe(struct bsv_metric_set *s, int64_t ns)
{
	const struct bsv_buckets *b;
	size_t at = 0;

	if (!s)
		return;
	b = &s->owner->buckets;
	while (at < b->n && ns > b->bounds[at])
		at++;
	s->buckets[at]++;
	s->n++;
	s->value = sum(s->value, ns);
	if (s->is_other)
		count_other(s->owner, s->id);
}

void bsv_metric_exemplar(struct bsv_metric_set *s, int64_t execution, int64_t value, int64_t at)
{
	if (!s || (s->execution && s->exemplar >= value))
		return;
	s->execution = execution;
	s->exemplar = value;
	s->exemplar_at = at;
}

/* ---- printed ---- */

void bsv_metrics_quoted(FILE *to, const char *s)
{
	fputc('"', to);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', to);
		fputc(*s, to);
	}
	fputc('"', to);
}

static void print_seconds(FILE *to, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	fprintf(to, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", size / 1000000000, size % 1000000000);
}

static void print_value(FILE *to, const struct bsv_metric_set *s)
{
	if (bsv_metric_infos[s->id].unit == BSV_UNIT_SECONDS)
		print_seconds(to, s->value);
	else
		fprintf(to, "%" PRId64, s->value);
}

static void print_set(FILE *to, const struct bsv_metric_set *s, enum bsv_metrics_form form)
{
	const struct bsv_metric_info *m = &bsv_metric_infos[s->id];
	const struct bsv_buckets *b = &s->owner->buckets;
	uint64_t n = 0;

	if (m->type == BSV_HISTOGRAM) {
		for (size_t i = 0; i <= b->n; i++) {
			n += s->buckets[i];
			fprintf(to, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", m->name, s->labels, *s->labels ? "," : "",
			        i < b->n ? s->owner->bounds[i] : "+Inf", n);
		}
		fprintf(to, "%s_count{%s} %" PRIu64 "\n%s_sum{%s} ", m->name, s->labels, s->n, m->name, s->labels);
		print_value(to, s);
		fputc('\n', to);
		return;
	}
	fprintf(to, "%s%s", m->name, bsv_metric_suffix(m));
	if (*m->labels)
		fprintf(to, "{%s}", s->labels);
	fputc(' ', to);
	print_value(to, s);
	if (form == BSV_OPENMETRICS && s->execution) {
		fprintf(to, " # {execution_id=\"%" PRId64 "\"} ", s->execution);
		print_seconds(to, s->exemplar);
		fputc(' ', to);
		print_seconds(to, s->exemplar_at);
	}
	fputc('\n', to);
}

int bsv_metrics_print(const struct bsv_metrics *m, enum bsv_metrics_form form, FILE *to)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	static const char *const units[] = { NULL, "seconds", "bytes" };

	for (size_t i = 0; i < BSV_METRICS; i++) {
		const struct family *f = &m->families[i];
		const struct bsv_metric_info *info = &bsv_metric_infos[i];
		const char *suffix = form == BSV_OPENMETRICS ? "" : bsv_metric_suffix(info);

		if (!f->n)
			continue;
		fprintf(to, "# HELP %s%s %s\n# TYPE %s%s %s\n", info->name, suffix, info->help, info->name, suffix,
		        types[info->type]);
		if (form == BSV_OPENMETRICS && units[info->unit])
			fprintf(to, "# UNIT %s %s\n", info->name, units[info->unit]);
		for (size_t j = 0; j < f->n; j++)
			print_set(to, f->sets[j], form);
	}
	if (form == BSV_OPENMETRICS)
		fputs("# EOF\n", to);
	return m->no_memory ? -1 : 0;
}

size_t bsv_metrics_series(const struct bsv_metrics *m)
{
	size_t n = 0;

	for (size_t i = 0; i < BSV_METRICS; i++)
		n += m->families[i].n * (bsv_metric_infos[i].type == BSV_HISTOGRAM ? m->buckets.n + 3 : 1);
	return n;
}
