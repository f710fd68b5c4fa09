/* world.c -- reads the rows that the page draws, and writes them as packs. */
#include "report/world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "report/pack.h"
#include "reports.h"

enum { LABELS_MOST = 256, COLUMNS_MOST = 40, EXECUTION_BYTES = 34, FIXED_BYTES = 512 * 1024 };

/* Words that rows of packs refer to by number. */
struct labels {
	char *of[LABELS_MOST];
	size_t n;
	size_t latest[COLUMNS_MOST]; /* latest word of each column: most rows have the same word as the row before */
};

/* Ids of apps or of models that packs refer to: the page has their names. */
struct named {
	uint8_t *of; /* a bit each, by id */
	size_t n;    /* bytes of @of */
};

struct overview {
	int64_t began, length;
	int64_t app_ids[BSV_OVERVIEW_APPS - 1]; /* those that held lanes longest; all others share the last place */
	size_t n_apps;
	int64_t held[BSV_OVERVIEW_BINS][BSV_OVERVIEW_APPS];
	int64_t submitted[BSV_OVERVIEW_BINS], missed[BSV_OVERVIEW_BINS];
};

struct world {
	struct bsv_input *input;
	const char *suffix;
	struct labels labels;
	struct overview overview;
	int32_t *apps; /* app of each execution, by id; -1: unknown */
	uint8_t *kept; /* a bit each, by id */
	size_t n_ids;
	int64_t all_ids; /* the executions of the database have the ids 1 to this; 0: some of these are missing */
	struct named named_apps, named_models;
	struct bsv_shown shown;
	FILE *first, *packs;
	struct bsa_err *err;
};

void bsv_page_text(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x7f)
			fprintf(to, "\\u%04x", c);
		else
			fputc(c, to);
	}
	fputc('"', to);
}

/* ---- rows into packs ---- */

/* The conversion of a query's column. Text becomes the number of a label. */
struct reading {
	struct bsv_pack *pack;
	struct bsv_pack_column columns[COLUMNS_MOST];
	/* the relation of the ids of each column; NULL: these are no ids with a name */
	struct named *names[COLUMNS_MOST];
	size_t n;
	int64_t values[COLUMNS_MOST];
};

static int64_t label_number(struct labels *l, size_t column, const char *text)
{
	size_t i = l->latest[column];

	if (i < l->n && !strcmp(l->of[i], text))
		return (int64_t)i;
	for (i = 0; i < l->n && strcmp(l->of[i], text);)
		i++;
	if (i == l->n) {
		char *word = i < LABELS_MOST ? strdup(text) : NULL;

		if (!word)
			return BSV_PACK_NULL;
		l->of[l->n++] = word;
	}
	l->latest[column] = i;
	return (int64_t)i;
}

/* A number that is absurd is unknown to the page: it would not survive a browser's arithmetic. */
static int64_t cell_value(struct labels *l, const struct bsa_query *q, size_t column)
{
	static const int64_t most = (int64_t)1 << 51;
	int64_t value;

	switch (bsa_query_type(q, column)) {
	case BSA_STRING:
		return label_number(l, column, bsa_query_get_string(q, column, NULL));
	case BSA_INT:
		value = bsa_query_get_int(q, column);
		return value <= most && value >= -most ? value : BSV_PACK_NULL;
	default:
		return BSV_PACK_NULL;
	}
}

/* @deltas: names of columns that are never NULL, with a space around each. */
static bool is_delta(const char *deltas, const char *name)
{
	const char *at = strstr(deltas, name);
	size_t n = strlen(name);

	return at && at > deltas && at[-1] == ' ' && at[n] == ' ';
}

static int name_id(struct named *named, int64_t id, struct bsa_err *err)
{
	size_t byte = (size_t)id / 8;

	if (id < 0 || id > INT32_MAX)
		return 0;
	if (byte >= named->n) {
		size_t n = 2 * byte + 64;
		uint8_t *of = realloc(named->of, n);

		if (!of)
			return bsv_no_memory(err);
		memset(of + named->n, 0, n - named->n);
		*named = (struct named){ .of = of, .n = n };
	}
	named->of[byte] |= (uint8_t)(1u << id % 8);
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Is the row for the page? */
typedef bool keeps_row(struct world *w, const int64_t *values);

static int pack_rows(struct world *w, struct reading *r, struct bsa_query *q, keeps_row *keeps)
{
	int result;

	while ((result = bsa_query_step(q, w->err)) > 0) {
		for (size_t c = 0; c < r->n; c++) {
			r->values[c] = cell_value(&w->labels, q, c);
			if (r->columns[c].delta && r->values[c] == BSV_PACK_NULL)
				r->values[c] = 0;
		}
		if (keeps && !keeps(w, r->values))
			continue;
		for (size_t c = 0; result >= 0 && c < r->n; c++)
			if (r->names[c])
				result = name_id(r->names[c], r->values[c], w->err);
		if (result >= 0)
			result = bsv_pack_row(r->pack, r->values, w->err);
		if (result < 0)
			return result;
	}
	return result < 0 ? result : bsv_pack_end(r->pack, w->err);
}

/* SQL of the report @template; NULL: no memory. Owned by the caller. */
static char *report_text(const struct world *w, const char *template)
{
	const struct bsv_input *in = w->input;
	bsv_scoped_text *began = bsv_text("%" PRId64, in->began), *from = bsv_text("%" PRId64, in->from),
			*to = bsv_text("%" PRId64, in->to);
	const struct bsv_placeholder placeholders[] = {
		{ "began", began }, { "from", from }, { "to", to }, { NULL, NULL }
	};
	bsv_scoped_text *filled = began && from && to ? bsv_fill(template, placeholders) : NULL;

	return filled ? bsv_text("%s%s", in->with, filled) : NULL;
}

/* The rows of the report @template that @keeps wants (NULL: all) become the pack @name. */
static int pack_report(struct world *w, const char *name, const char *template, const char *deltas, keeps_row *keeps)
{
	bsv_scoped_text *sql = report_text(w, template);
	bsv_scoped_query *q = NULL;
	struct reading r = { 0 };
	int result = sql ? bsa_query_new(&q, w->input->db, sql, w->err) : bsv_no_memory(w->err);

	if (result < 0)
		return result;
	r.n = bsa_query_columns(q);
	assert(r.n <= COLUMNS_MOST);
	for (size_t c = 0; c < r.n; c++) {
		const char *column = bsa_query_name(q, c);

		r.columns[c] = (struct bsv_pack_column){ column, is_delta(deltas, column) };
		if (ends_with(column, "app_id"))
			r.names[c] = &w->named_apps;
		else
			r.names[c] = ends_with(column, "model_id") ? &w->named_models : NULL;
	}
	/* [["name", is it a delta column?],...]; the numbers of columns called ..._word are places of labels. */
	fprintf(w->packs, "<script type=\"application/json\" data-columns=\"%s%s\">[", name, w->suffix);
	for (size_t c = 0; c < r.n; c++) {
		fputs(c ? ",[" : "[", w->packs);
		bsv_page_text(w->packs, r.columns[c].name);
		fprintf(w->packs, ",%d]", r.columns[c].delta);
	}
	fputs("]</script>\n", w->packs);
	r.pack = bsv_pack_new(w->packs, name, r.columns, r.n);
	result = r.pack ? pack_rows(w, &r, q, keeps) : bsv_no_memory(w->err);
	bsv_pack_free(r.pack);
	return result;
}

/* ---- which executions ---- */

static bool has_bit(const struct world *w, int64_t id)
{
	return id >= 0 && (size_t)id < w->n_ids && (w->kept[id / 8] >> id % 8 & 1);
}

static void set_bit(struct world *w, int64_t id)
{
	if (id >= 0 && (size_t)id < w->n_ids)
		w->kept[id / 8] |= (uint8_t)(1u << id % 8);
}

static size_t bin_of(const struct overview *o, int64_t at)
{
	if (at <= 0)
		return 0;
	return at >= o->length ? BSV_OVERVIEW_BINS - 1
	                       : (size_t)((unsigned __int128)at * BSV_OVERVIEW_BINS / (uint64_t)o->length);
}

/* Keep the executions named by others that missed a deadline, were preempted or waited for a less urgent one. */
static int keep_involved(struct world *w)
{
	bsv_scoped_query *q = NULL;
	int r = w->shown.stride > 1 ? bsa_query_new(&q, w->input->db, bsv_sql_report_involved, w->err) : 0;

	while (q && r >= 0 && (r = bsa_query_step(q, w->err)) > 0)
		set_bit(w, bsa_query_get_int(q, 0));
	return r;
}

/* ---- the packs ---- */

/* Columns of report_executions, report_slices and report_held. */
enum {
	EXECUTION_ID,
	EXECUTION_APP,
	EXECUTION_MISS,
	EXECUTION_BEGAN,
	EXECUTION_LANE,
	EXECUTION_DISPATCHED,
	EXECUTION_ENDED
};
enum { SLICE_EXECUTION = 2, SLICE_BEGAN, SLICE_DURATION };
enum { HELD_EXECUTION, HELD_BEGAN, HELD_DURATION };

/* Adds a stretch of a lane to the bins that it is in. */
static void add_held(struct world *w, int64_t id, int64_t began, int64_t ended)
{
	struct overview *o = &w->overview;
	bool known = id >= 0 && (size_t)id < w->n_ids;
	size_t app = 0;

	while (app < o->n_apps && o->app_ids[app] != (known ? w->apps[id] : -1))
		app++;
	app = app < o->n_apps ? app : BSV_OVERVIEW_APPS - 1;
	began = began > 0 ? began : 0;
	ended = ended < o->length ? ended : o->length;
	for (size_t bin = bin_of(o, began); began < ended; bin++) {
		int64_t end =
			bin + 1 < BSV_OVERVIEW_BINS
				? (int64_t)((unsigned __int128)(bin + 1) * (uint64_t)o->length / BSV_OVERVIEW_BINS)
				: o->length;

		end = end < ended ? end : ended;
		if (end > began)
			o->held[bin][app] += end - began;
		began = end > began ? end : began + 1;
	}
}

/* Notes whose each execution is, and counts it in the overview, whether or not the page has it. */
static bool keeps_execution(struct world *w, const int64_t *values)
{
	int64_t id = values[EXECUTION_ID], began = values[EXECUTION_BEGAN], dispatched = values[EXECUTION_DISPATCHED],
		ended = values[EXECUTION_ENDED];
	bool missed = values[EXECUTION_MISS] != BSV_PACK_NULL, kept;
	size_t bin = bin_of(&w->overview, began);

	w->shown.all++;
	w->overview.submitted[bin]++;
	w->overview.missed[bin] += missed;
	if (id < 0 || (size_t)id >= w->n_ids)
		return false;
	if (values[EXECUTION_APP] != BSV_PACK_NULL)
		w->apps[id] = (int32_t)values[EXECUTION_APP];
	if (!w->input->picks && values[EXECUTION_LANE] != BSV_PACK_NULL && dispatched != BSV_PACK_NULL &&
	    ended != BSV_PACK_NULL)
		add_held(w, id, began + dispatched, began + ended);
	if (missed || w->shown.all % w->shown.stride == 0)
		set_bit(w, id);
	kept = has_bit(w, id);
	w->shown.executions += kept;
	return kept;
}

static bool keeps_first(struct world *w, const int64_t *values)
{
	return has_bit(w, values[0]);
}

static bool keeps_slice(struct world *w, const int64_t *values)
{
	int64_t began = values[SLICE_BEGAN],
		length = values[SLICE_DURATION] == BSV_PACK_NULL ? 0 : values[SLICE_DURATION];

	if (!w->input->picks)
		add_held(w, values[SLICE_EXECUTION], began, began + length);
	return has_bit(w, values[SLICE_EXECUTION]);
}

/* Was a kernel recorded, too? */
static bool has_cpus(const struct world *w)
{
	bsv_scoped_query *q = NULL;

	return bsa_query_new(&q, w->input->db, bsv_sql_report_has_cpus, NULL) >= 0 && bsa_query_step(q, NULL) > 0;
}

/* Where only some executions are picked, the overview shows the lanes of the others, too. */
static int hold_all(struct world *w)
{
	bsv_scoped_text *sql = report_text(w, bsv_sql_report_held);
	bsv_scoped_query *q = NULL;
	int r = sql ? bsa_query_new(&q, w->input->db, sql, w->err) : bsv_no_memory(w->err);

	while (r >= 0 && (r = bsa_query_step(q, w->err)) > 0) {
		int64_t values[3];

		for (size_t c = 0; c < 3; c++)
			values[c] = cell_value(&w->labels, q, c);
		if (values[HELD_BEGAN] != BSV_PACK_NULL && values[HELD_DURATION] != BSV_PACK_NULL)
			add_held(w, values[HELD_EXECUTION], values[HELD_BEGAN],
			         values[HELD_BEGAN] + values[HELD_DURATION]);
	}
	return r;
}

static int write_packs(struct world *w)
{
	int r = pack_report(w, "executions", bsv_sql_report_executions, " id began ", keeps_execution);

	if (r >= 0 && w->input->picks)
		r = hold_all(w);
	if (r >= 0)
		r = pack_report(w, "slices", bsv_sql_report_slices, " execution_id began ", keeps_slice);
	if (r >= 0)
		r = pack_report(w, "causes", bsv_sql_report_causes, " execution_id ", keeps_first);
	if (r >= 0)
		r = pack_report(w, "without", bsv_sql_report_without, " execution_id ", keeps_first);
	if (r >= 0)
		r = pack_report(w, "preemptions", bsv_sql_report_preemptions, " execution_id stopped ", keeps_first);
	if (r >= 0)
		r = pack_report(w, "inversions", bsv_sql_report_inversions, " ", keeps_first);
	if (r >= 0)
		r = pack_report(w, "losses", bsv_sql_report_losses, " ", NULL);
	if (r >= 0)
		r = pack_report(w, "lags", bsv_sql_report_lags, " ", NULL);
	if (r >= 0 && has_cpus(w))
		r = pack_report(w, "cpus", bsv_sql_report_cpus, " ", NULL);
	return r;
}

/* ---- names and the overview ---- */

/* [[id,"name"],...] of @relation, apps or models: those in @named; and how many there are. */
static int write_names(struct world *w, const char *relation, const struct named *named)
{
	const struct bsv_placeholder placeholders[] = { { "relations", w->input->with },
		                                        { "relation", relation },
		                                        { NULL, NULL } };
	bsv_scoped_query *q = NULL;
	int r = bsv_query_new(&q, w->input->db, bsv_sql_names, placeholders, w->err);
	int64_t all = 0;
	bool any = false;

	fprintf(w->first, ",\"%s\":[", relation);
	for (; r >= 0 && (r = bsa_query_step(q, w->err)) > 0; all++) {
		const char *name = bsa_query_get_string(q, 1, NULL);
		int64_t id = bsa_query_get_int(q, 0);

		if (id < 0 || (size_t)id / 8 >= named->n || !(named->of[id / 8] >> id % 8 & 1))
			continue;
		fprintf(w->first, "%s[%" PRId64 ",", any ? "," : "", id);
		bsv_page_text(w->first, name ? name : "");
		fputc(']', w->first);
		any = true;
	}
	fprintf(w->first, "],\"%s_all\":%" PRId64, relation, all);
	return r;
}

static void write_bins(FILE *to, const char *name, const int64_t *bins, size_t step)
{
	fprintf(to, ",\"%s\":[", name);
	for (size_t i = 0; i < BSV_OVERVIEW_BINS; i++)
		fprintf(to, "%s%" PRId64, i ? "," : "", bins[i * step]);
	fputc(']', to);
}

static int write_first(struct world *w)
{
	struct overview *o = &w->overview;
	int r;

	fprintf(w->first,
	        "<script type=\"application/json\" id=\"overview%s\">{\"length\":%" PRId64 ",\"began\":\"%" PRId64
	        "\",\"ids\":%" PRId64 ",\"stride\":%" PRId64 ",\"shown\":%" PRId64 ",\"all\":%" PRId64 ",\"busiest\":[",
	        w->suffix, o->length, w->input->began, w->all_ids, w->shown.stride, w->shown.executions, w->shown.all);
	for (size_t i = 0; i < o->n_apps; i++)
		fprintf(w->first, "%s%" PRId64, i ? "," : "", o->app_ids[i]);
	fputc(']', w->first);
	r = write_names(w, "apps", &w->named_apps);
	if (r >= 0)
		r = write_names(w, "models", &w->named_models);
	write_bins(w->first, "submitted", o->submitted, 1);
	write_bins(w->first, "missed", o->missed, 1);
	for (size_t app = 0; app < BSV_OVERVIEW_APPS; app++) {
		char name[24];

		snprintf(name, sizeof(name), "held_%zu", app);
		write_bins(w->first, name, &o->held[0][app], BSV_OVERVIEW_APPS);
	}
	fputs("}</script>\n", w->first);
	return r;
}

/* ---- all of it ---- */

static int count_ids(struct world *w, int64_t bytes)
{
	bsv_scoped_query *q = NULL, *busiest = NULL;
	int r = bsa_query_new(&q, w->input->db, bsv_sql_report_ids, w->err);
	int64_t affordable = (bytes > 2 * FIXED_BYTES ? bytes - FIXED_BYTES : FIXED_BYTES) / EXECUTION_BYTES;

	if (r >= 0)
		r = bsa_query_step(q, w->err);
	if (r < 0)
		return r;
	w->n_ids = (size_t)bsa_query_get_int(q, 0);
	if (bsa_query_get_int(q, 1) == (int64_t)w->n_ids - 1)
		w->all_ids = bsa_query_get_int(q, 1);
	w->shown.stride = 1 + (bsa_query_get_int(q, 1) - 1) / affordable;
	if (w->n_ids > INT32_MAX)
		return bsa_fail(w->err, BSA_E_INPUT, "there are more executions than a page can have");
	w->apps = malloc(w->n_ids * sizeof(*w->apps));
	w->kept = calloc(w->n_ids / 8 + 1, 1);
	if (!w->apps || !w->kept)
		return bsv_no_memory(w->err);
	memset(w->apps, 0xff, w->n_ids * sizeof(*w->apps));
	r = bsa_query_new(&busiest, w->input->db, bsv_sql_report_busiest, w->err);
	while (r >= 0 && (r = bsa_query_step(busiest, w->err)) > 0 && w->overview.n_apps < BSV_OVERVIEW_APPS - 1) {
		int64_t id = bsa_query_get_int(busiest, 0);

		w->overview.app_ids[w->overview.n_apps++] = id;
		r = name_id(&w->named_apps, id, w->err);
	}
	return r;
}

int bsv_world_write(struct bsv_shown *ret, struct bsv_input *input, const char *suffix, int64_t bytes, FILE *first,
                    FILE *packs, struct bsa_err *err)
{
	struct world *w = calloc(1, sizeof(*w));
	int64_t length = bsv_input_length(input);
	int r;

	if (!w)
		return bsv_no_memory(err);
	*w = (struct world){ .input = input, .suffix = suffix, .first = first, .packs = packs, .err = err };
	w->overview.length = length > 0 ? length : 1;
	r = count_ids(w, bytes);
	if (r >= 0)
		r = keep_involved(w);
	if (r >= 0)
		r = write_packs(w);
	fprintf(packs, "<script type=\"application/json\" id=\"labels%s\">[", suffix);
	for (size_t i = 0; i < w->labels.n; i++) {
		fputs(i ? "," : "", packs);
		bsv_page_text(packs, w->labels.of[i]);
	}
	fputs("]</script>\n", packs);
	if (r >= 0)
		r = write_first(w);
	*ret = w->shown;
	for (size_t i = 0; i < w->labels.n; i++)
		free(w->labels.of[i]);
	free(w->named_apps.of);
	free(w->named_models.of);
	free(w->apps);
	free(w->kept);
	free(w);
	return r;
}
