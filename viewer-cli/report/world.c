/* world.c -- reads the rows that the page draws, and writes them as packs. */
#include "report/world.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "input/execution.h"
#include "report/pack.h"
#include "reports.h"

enum { LABELS_MOST = 256, COLUMNS_MOST = 40, EXECUTION_BYTES = 34, FIXED_BYTES = 512 * 1024 };

/* Words that rows of packs refer to by number. */
struct labels {
	char *of[LABELS_MOST];
	size_t n;
	size_t latest[COLUMNS_MOST]; /* latest word of each column: most rows have the same word as the row before */
};

static void labels_fini(struct labels *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->of[i]);
}

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
	putc_unlocked('"', to); /* a page may have many names, and one thread at a time writes to it */
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x7f)
			fprintf(to, "\\u%04x", c);
		else
			putc_unlocked(c, to);
	}
	putc_unlocked('"', to);
}

/* ---- rows into packs ---- */

/* Is the row for the page? */
typedef bool keeps_row(struct world *w, const int64_t *values);

typedef int compares_rows(const void *a, const void *b);

/* Rows of one execution, which are sorted before they are packed. */
struct together {
	compares_rows *compares; /* NULL: rows are packed in the order of the query */
	int64_t *rows;           /* ROW_SIZE numbers each: the values of the row, and last its place in the query */
	size_t n, room;
	struct labels words; /* of these rows: the page numbers its own in the order in which they are packed */
	int64_t numbers[LABELS_MOST]; /* the page's number of each word, and 1; 0: it has none yet */
};

enum { ROW_SIZE = COLUMNS_MOST + 1 };

/* The conversion of a query's column. Text becomes the number of a label. */
struct reading {
	struct bsv_pack *pack;
	struct bsv_pack_column columns[COLUMNS_MOST];
	/* the relation of the ids of each column; NULL: these are no ids with a name */
	struct named *names[COLUMNS_MOST];
	size_t n;
	bool is_word[COLUMNS_MOST];
	int64_t values[COLUMNS_MOST];
	keeps_row *keeps; /* NULL: each row is for the page */
	struct together together;
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
static int64_t number_drawn(int64_t value)
{
	static const int64_t most = (int64_t)1 << 51;

	return value <= most && value >= -most ? value : BSV_PACK_NULL;
}

static int64_t cell_value(struct labels *l, const struct bsa_query *q, size_t column)
{
	int64_t value;

	if (bsa_query_read_int(&value, q, column))
		return number_drawn(value);
	return bsa_query_type(q, column) == BSA_STRING ? label_number(l, column, bsa_query_get_string(q, column, NULL))
	                                               : BSV_PACK_NULL;
}

/* Is @name one of @names, which have a space around each? */
static bool is_among(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = names; (at = strstr(at, name)); at += n)
		if (at > names && at[-1] == ' ' && at[n] == ' ')
			return true;
	return false;
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

static int row_pack(struct world *w, struct reading *r, const int64_t *values)
{
	int result = 0;

	for (size_t c = 0; result >= 0 && c < r->n; c++)
		if (r->names[c])
			result = name_id(r->names[c], values[c], w->err);
	return result >= 0 ? bsv_pack_row(r->pack, values, w->err) : result;
}

/* Sort the rows that were put together, and pack them. */
static int together_pack(struct world *w, struct reading *r)
{
	struct together *t = &r->together;
	int result = 0;

	if (t->n > 1)
		qsort(t->rows, t->n, ROW_SIZE * sizeof(*t->rows), t->compares);
	for (size_t i = 0; result >= 0 && i < t->n; i++) {
		int64_t *row = t->rows + i * ROW_SIZE;

		for (size_t c = 0; c < r->n; c++)
			if (r->is_word[c] && row[c] != BSV_PACK_NULL) {
				int64_t *number = &t->numbers[row[c]];

				if (!*number)
					*number = 1 + label_number(&w->labels, c, t->words.of[row[c]]);
				row[c] = *number - 1;
			}
		if (!r->keeps || r->keeps(w, row))
			result = row_pack(w, r, row);
	}
	t->n = 0;
	return result;
}

/* Put a row to the others of its execution, which is its first column; those of another one are packed before. */
static int together_add(struct world *w, struct reading *r)
{
	struct together *t = &r->together;
	int result = t->n && t->rows[0] != r->values[0] ? together_pack(w, r) : 0;
	int64_t *row;

	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 32;
		int64_t *rows = reallocarray(t->rows, room, ROW_SIZE * sizeof(*rows));

		if (!rows)
			return bsv_no_memory(w->err);
		t->rows = rows;
		t->room = room;
	}
	row = t->rows + t->n * ROW_SIZE;
	memcpy(row, r->values, r->n * sizeof(*row));
	row[COLUMNS_MOST] = (int64_t)t->n++;
	return result;
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

/* A pack of the page: the rows of the report @template that @keeps wants (NULL: all). */
struct wanted {
	const char *name, *template;
	const char *deltas; /* columns that are never NULL, with a space around each */
	keeps_row *keeps;
	compares_rows *compares; /* sorts rows with an equal first column, see struct together; NULL: not needed */
};

/* Begin a pack of the columns r->columns, whose names say what they are. */
static int reading_begin(struct world *w, struct reading *r, const char *name)
{
	/* [["name", is it a delta column?],...]; the numbers of columns called ..._word are places of labels. */
	fprintf(w->packs, "<script type=\"application/json\" data-columns=\"%s%s\">[", name, w->suffix);
	for (size_t c = 0; c < r->n; c++) {
		const char *column = r->columns[c].name;

		r->is_word[c] = ends_with(column, "_word");
		if (ends_with(column, "app_id"))
			r->names[c] = &w->named_apps;
		else
			r->names[c] = ends_with(column, "model_id") ? &w->named_models : NULL;
		fputs(c ? ",[" : "[", w->packs);
		bsv_page_text(w->packs, column);
		fprintf(w->packs, ",%d]", r->columns[c].delta);
	}
	fputs("]</script>\n", w->packs);
	r->pack = bsv_pack_new(w->packs, name, r->columns, r->n);
	return r->pack ? 0 : bsv_no_memory(w->err);
}

static int pack_wanted(struct world *w, const struct wanted *wanted)
{
	bsv_scoped_text *sql = report_text(w, wanted->template);
	bsv_scoped_query *q = NULL;
	struct labels *labels;
	struct reading r = { .keeps = wanted->keeps, .together = { .compares = wanted->compares } };
	int result = sql ? bsa_query_new(&q, w->input->db, sql, w->err) : bsv_no_memory(w->err);

	if (result < 0)
		return result;
	r.n = bsa_query_columns(q);
	assert(r.n <= COLUMNS_MOST);
	for (size_t c = 0; c < r.n; c++) {
		const char *column = bsa_query_name(q, c);

		r.columns[c] = (struct bsv_pack_column){ column, is_among(wanted->deltas, column) };
	}
	labels = wanted->compares ? &r.together.words : &w->labels;
	result = reading_begin(w, &r, wanted->name);
	while (result >= 0 && (result = bsa_query_step(q, w->err)) > 0) {
		for (size_t c = 0; c < r.n; c++) {
			r.values[c] = cell_value(labels, q, c);
			if (r.columns[c].delta && r.values[c] == BSV_PACK_NULL)
				r.values[c] = 0;
		}
		if (wanted->compares)
			result = together_add(w, &r);
		else if (!r.keeps || r.keeps(w, r.values))
			result = row_pack(w, &r, r.values);
	}
	if (result >= 0)
		result = together_pack(w, &r);
	if (result >= 0)
		result = bsv_pack_end(r.pack, w->err);
	bsv_pack_free(r.pack);
	free(r.together.rows);
	labels_fini(&r.together.words);
	return result;
}

static int pack_report(struct world *w, const char *name, const char *template, const char *deltas, keeps_row *keeps)
{
	const struct wanted wanted = { .name = name, .template = template, .deltas = deltas, .keeps = keeps };

	return pack_wanted(w, &wanted);
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

/* Columns of the executions that are drawn, the first of them. */
enum {
	EXECUTION_ID,
	EXECUTION_APP,
	EXECUTION_MISS,
	EXECUTION_BEGAN,
	EXECUTION_LANE,
	EXECUTION_DISPATCHED,
	EXECUTION_ENDED
};
/* Columns of report_slices and report_held. */
enum { SLICE_EXECUTION = 2, SLICE_BEGAN, SLICE_DURATION };
enum { HELD_EXECUTION, HELD_BEGAN, HELD_DURATION };
/* Columns of report_causes. */
enum { CAUSE_LATE_NS = 4, CAUSE_IS_PRIMARY = 6 };

/* The primary cause first, then those that cost most. */
static int causes_compare(const void *a, const void *b)
{
	static const size_t falling[] = { CAUSE_IS_PRIMARY, CAUSE_LATE_NS };
	const int64_t *x = a, *y = b;

	for (size_t i = 0; i < sizeof(falling) / sizeof(*falling); i++)
		if (x[falling[i]] != y[falling[i]])
			return x[falling[i]] > y[falling[i]] ? -1 : 1;
	return x[COLUMNS_MOST] < y[COLUMNS_MOST] ? -1 : 1;
}

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

/* ---- executions ---- */

/*
 * What the page has of an execution. began is when it began, as early as it was observed, from the start of the
 * recording on; the other times count from began on. Of an execution that was on its lane once, dispatched, run_ended,
 * lane and instance are its stretch on the lane.
 */
struct drawn {
	int64_t began, instance, ended, submitted_late;
};

enum column_kind { OF_ROW, OF_DRAWN, TIME_OF_ROW, TIME_OF_DRAWN, WORD };

#define ROW(name) #name, OF_ROW, offsetof(struct bsa_execution_row, name)
#define DRAWN(name) #name, OF_DRAWN, offsetof(struct drawn, name)
#define TIME(name) #name, TIME_OF_ROW, offsetof(struct bsa_execution_row, name)
#define WORD(name) #name "_word", WORD, offsetof(struct bsa_execution_row, name)

static const struct {
	const char *name;
	enum column_kind kind;
	size_t at;
} execution_columns[] = {
	[EXECUTION_ID] = { ROW(id) },
	[EXECUTION_APP] = { ROW(app_id) },
	[EXECUTION_MISS] = { WORD(miss) },
	[EXECUTION_BEGAN] = { DRAWN(began) },
	[EXECUTION_LANE] = { ROW(lane) },
	[EXECUTION_DISPATCHED] = { TIME(dispatched) },
	{ TIME(run_ended) },
	{ DRAWN(instance) },
	{ ROW(model_id) },
	{ "ended", TIME_OF_DRAWN, offsetof(struct drawn, ended) },
	{ TIME(enqueued) },
	{ TIME(deadline) },
	{ ROW(e2e_ns) },
	{ ROW(prepare_ns) },
	{ ROW(send_ns) },
	{ ROW(decode_ns) },
	{ ROW(fence_ns) },
	{ ROW(slots_ns) },
	{ ROW(queue_ns) },
	{ ROW(run_ns) },
	{ ROW(preempted_ns) },
	{ ROW(reply_ns) },
	{ ROW(return_ns) },
	{ ROW(finish_ns) },
	{ ROW(signal_ns) },
	{ ROW(lateness_ns) },
	{ ROW(preemptions) },
	{ ROW(cold) },
	{ WORD(priority) },
	{ WORD(path) },
	{ WORD(status) },
	{ WORD(quality) },
	{ WORD(sides) },
	{ DRAWN(submitted_late) },
};

enum { EXECUTION_COLUMNS = sizeof(execution_columns) / sizeof(*execution_columns) };

static void read_execution(struct world *w, struct reading *r, const struct bsa_execution_row *x)
{
	const int64_t ends[] = { x->signalled,      x->returned,  x->result_read,
		                 x->result_written, x->run_ended, x->missed_at };
	int64_t began = x->began != BSA_NULL_INT      ? x->began
	                : x->deadline != BSA_NULL_INT ? x->deadline
	                                              : w->input->began;
	struct drawn d = { .began = bsv_minus(began, w->input->began),
		           .instance = x->exec == BSA_NULL_INT ? x->exec : x->exec >> 52 & 4095,
		           .ended = BSA_NULL_INT,
		           .submitted_late = x->deadline != BSA_NULL_INT && x->deadline < x->submitted };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends) && d.ended == BSA_NULL_INT; i++)
		d.ended = ends[i];
	for (size_t c = 0; c < EXECUTION_COLUMNS; c++) {
		enum column_kind kind = execution_columns[c].kind;
		const char *at = (kind == OF_DRAWN || kind == TIME_OF_DRAWN ? (const char *)&d : (const char *)x) +
		                 execution_columns[c].at;
		const char *word;
		int64_t value;

		if (kind == WORD) {
			memcpy(&word, at, sizeof(word));
			r->values[c] = word ? label_number(&w->labels, c, word) : BSV_PACK_NULL;
			continue;
		}
		memcpy(&value, at, sizeof(value));
		if (kind == TIME_OF_ROW || kind == TIME_OF_DRAWN)
			value = bsv_minus(value, began);
		r->values[c] = number_drawn(value);
		if (r->columns[c].delta && r->values[c] == BSV_PACK_NULL)
			r->values[c] = 0;
	}
}

/* The executions in C, because SQLite takes three times as long to unpack them (bsa/executions.h). */
static int pack_executions(struct world *w)
{
	struct reading r = { .n = EXECUTION_COLUMNS, .keeps = keeps_execution };
	struct bsa_executions *from = NULL;
	struct bsa_execution_row x;
	int result = bsv_input_executions(&from, w->input, true, w->err);

	for (size_t c = 0; c < r.n; c++)
		r.columns[c] = (struct bsv_pack_column){ execution_columns[c].name,
			                                 c == EXECUTION_ID || c == EXECUTION_BEGAN };
	if (result >= 0)
		result = reading_begin(w, &r, "executions");
	while (result >= 0 && (result = bsa_executions_step(from, &x, w->err)) > 0) {
		read_execution(w, &r, &x);
		if (r.keeps(w, r.values))
			result = row_pack(w, &r, r.values);
	}
	if (result >= 0)
		result = bsv_pack_end(r.pack, w->err);
	bsv_pack_free(r.pack);
	bsa_executions_free(from);
	return result;
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
	static const struct wanted causes = { .name = "causes",
		                              .template = bsv_sql_report_causes,
		                              .deltas = " execution_id ",
		                              .keeps = keeps_first,
		                              .compares = causes_compare };
	int r = pack_executions(w);

	if (r >= 0 && w->input->picks)
		r = hold_all(w);
	if (r >= 0)
		r = pack_report(w, "slices", bsv_sql_report_slices, " execution_id began ", keeps_slice);
	if (r >= 0)
		r = pack_wanted(w, &causes);
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
	labels_fini(&w->labels);
	free(w->named_apps.of);
	free(w->named_models.of);
	free(w->apps);
	free(w->kept);
	free(w);
	return r;
}
