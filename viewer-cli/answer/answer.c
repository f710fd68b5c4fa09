/*
 * answer.c -- prints an answer as a table, JSON or CSV. It asks every part for its first row before
 * it prints the first byte, so an answer that fails prints nothing.
 */
#include "answer/answer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/pager.h"
#include "base/letters.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "options/options.h"
#include "render/render.h"
#include "render/scale.h"

enum { MOST_PARTS = 16, MOST_NOTES = 32, MOST_RULES = 256, BEYOND_MOST = 100000 };

struct part {
	const char *name, *title;
	char *sql;
	struct bsv_rows *rows;
	bool raw, hidden;
};

struct bsv_answer {
	const struct bsv_call *call;
	struct bsv_input *input;
	struct part parts[MOST_PARTS];
	char *notes[MOST_NOTES];
	struct bsv_verdict rules[MOST_RULES];
	size_t n_parts, n_notes, n_rules;
	bool no_memory;
	const char *replayed; /* options that decided what was replayed; NULL: the answer is not of a replay */
	FILE *to;             /* NULL: the standard output */
	int (*draw)(FILE *to, const struct bsv_screen *screen, void *ctx, struct bsa_err *err);
	void *draw_ctx;
};

/* ---- put together ---- */

struct bsv_answer *bsv_answer_new(const struct bsv_call *call, struct bsv_input *input)
{
	struct bsv_answer *a = calloc(1, sizeof(*a));

	if (a) {
		a->call = call;
		a->input = input;
		a->to = call->to;
	}
	return a;
}

struct bsv_answer *bsv_answer_free(struct bsv_answer *a)
{
	if (!a)
		return NULL;
	for (size_t i = 0; i < a->n_parts; i++) {
		free(a->parts[i].sql);
		bsv_rows_free(a->parts[i].rows);
	}
	for (size_t i = 0; i < a->n_notes; i++)
		free(a->notes[i]);
	free(a);
	return NULL;
}

/* The answer owns @sql or @rows from here on, also where it cannot keep them. */
static void add_part(struct bsv_answer *a, struct part part)
{
	assert(part.name && (!part.sql || !part.rows));
	assert(!a || !a->call->command->parts || bsv_options_has_part(a->call->command, part.name));
	if (a && a->n_parts < MOST_PARTS && (part.sql || part.rows)) {
		a->parts[a->n_parts++] = part;
		return;
	}
	if (a)
		a->no_memory = true;
	free(part.sql);
	bsv_rows_free(part.rows);
}

void bsv_answer_sql(struct bsv_answer *a, const char *name, const char *title, char *sql)
{
	add_part(a, (struct part){ .name = name, .title = title, .sql = sql });
}

void bsv_answer_rows(struct bsv_answer *a, const char *name, const char *title, struct bsv_rows *rows)
{
	add_part(a, (struct part){ .name = name, .title = title, .rows = rows });
}

/* NULL: there is no such part, perhaps because there was no memory for it. */
static struct part *part_find(struct bsv_answer *a, const char *name)
{
	for (size_t i = 0; a && i < a->n_parts; i++)
		if (!strcmp(a->parts[i].name, name))
			return &a->parts[i];
	return NULL;
}

void bsv_answer_raw(struct bsv_answer *a, const char *name)
{
	struct part *part = part_find(a, name);

	if (part)
		part->raw = true;
}

void bsv_answer_hide(struct bsv_answer *a, const char *name)
{
	struct part *part = part_find(a, name);

	if (part)
		part->hidden = true;
}

void bsv_answer_draw(struct bsv_answer *a,
                     int (*draw)(FILE *to, const struct bsv_screen *screen, void *ctx, struct bsa_err *err), void *ctx)
{
	if (!a)
		return;
	a->draw = draw;
	a->draw_ctx = ctx;
}

void bsv_answer_to(struct bsv_answer *a, FILE *to)
{
	if (a)
		a->to = to;
}

void bsv_answer_replayed(struct bsv_answer *a, const char *options)
{
	if (a)
		a->replayed = options;
}

void bsv_answer_note(struct bsv_answer *a, const char *format, ...)
{
	va_list args;
	char *note;

	if (!a || a->n_notes == MOST_NOTES)
		return;
	va_start(args, format);
	if (vasprintf(&note, format, args) < 0)
		a->no_memory = true;
	else
		a->notes[a->n_notes++] = note;
	va_end(args);
}

void bsv_answer_verdict(struct bsv_answer *a, const struct bsv_verdict *v)
{
	if (!a)
		return;
	if (a->n_rules == MOST_RULES) /* a rule must never be dropped silently */
		a->no_memory = true;
	else
		a->rules[a->n_rules++] = *v;
}

static int badness_of(const struct bsv_verdict *v)
{
	static const int badness[] = { [BSV_PASS] = 0, [BSV_CANNOT_TELL] = 1, [BSV_FAIL] = 2 };

	return v->outcome == BSV_PASS && v->idle ? -1 : badness[v->outcome];
}

/* The first of the worst rules; NULL: the answer has no rules. */
static const struct bsv_verdict *worst_rule(const struct bsv_answer *a)
{
	const struct bsv_verdict *ret = a->n_rules ? a->rules : NULL;

	for (size_t i = 1; i < a->n_rules; i++)
		if (badness_of(&a->rules[i]) > badness_of(ret))
			ret = &a->rules[i];
	return ret;
}

/* ---- which parts ---- */

/* Choose the parts to be printed, [*ret, *ret + n). */
static int parts_choose(struct bsv_answer *a, struct part **ret, size_t *ret_n, struct bsa_err *err)
{
	const char *name = a->call->asked.part;

	*ret = a->parts;
	*ret_n = a->call->asked.format == BSV_CSV && a->n_parts ? 1 : a->n_parts;
	if (!name)
		return 0;
	*ret_n = 1;
	*ret = part_find(a, name);
	if (*ret)
		return 0;
	return bsv_options_no_part(name, &a->parts[0].name, a->n_parts, sizeof(a->parts[0]), err);
}

/* ---- for people ---- */

static const char *const outcomes[] = { [BSV_PASS] = "pass", [BSV_FAIL] = "FAIL", [BSV_CANNOT_TELL] = "cannot tell" };
static const int outcome_paint[] = {
	[BSV_PASS] = BSV_GOOD, [BSV_FAIL] = BSV_BAD, [BSV_CANNOT_TELL] = BSV_UNSURE_PAINT
};

static const char *outcome_word(const struct bsv_verdict *v)
{
	return v->outcome == BSV_PASS && v->idle ? "nothing to judge" : outcomes[v->outcome];
}

static int outcome_paint_of(const struct bsv_verdict *v)
{
	return v->outcome == BSV_PASS && v->idle ? BSV_FAINT : outcome_paint[v->outcome];
}

static void figure_print(char to[2 * BSV_SCALED_TEXT], const char *class, double value)
{
	struct bsv_cell cell = { .type = BSA_REAL, .real = value };
	struct bsv_extent e = { 0 };
	struct bsv_scale scale;
	char number[BSV_SCALED_TEXT];
	bool is_minus_zero;

	bsv_extent_add(&e, cell);
	scale = bsv_scale_of(class, &e, NULL);
	bsv_scaled(number, &scale, cell);
	is_minus_zero = *number == '-' && strspn(number, "-0.") == strlen(number);
	snprintf(to, 2 * BSV_SCALED_TEXT, "%s%s%s", number + is_minus_zero, *scale.unit ? " " : "", scale.unit);
}

/*
 * "FAIL: max_lag_ns 31.2 ms, bound 20.0 ms: why", or "nothing to judge: why", behind @used columns.
 * Where nothing is certain, the figure is only that of what was seen, and the reason has the
 * numbers that count. @alone: it is the only rule; then a reason without a figure needs no name.
 */
static void print_rule(FILE *to, const struct bsv_screen *s, const struct bsv_verdict *v, bool alone, int used)
{
	bool bare = v->outcome == BSV_PASS ? v->idle : v->outcome == BSV_CANNOT_TELL && v->why;
	char seen[2 * BSV_SCALED_TEXT], bound[2 * BSV_SCALED_TEXT], *said, *shown;
	char *name = bare && alone && v->why ? NULL : bsv_name_in_words(v->name);
	bool has_figure = v->figure == v->figure && !bare;
	bool has_bound = v->bound == v->bound && !bare; /* NaN: no figure, or no bound */

	figure_print(seen, v->class, v->figure);
	figure_print(bound, v->class, v->bound);
	said = bsv_text("%s%s%s%s%s%s%s%s", name && *name ? ": " : "", name ? name : "", has_figure ? " " : "",
	                has_figure ? seen : "", has_bound ? ", bound " : "", has_bound ? bound : "", v->why ? ": " : "",
	                v->why ? v->why : "");
	shown = said ? bsv_printable(said, strlen(said), 0) : NULL;
	bsv_print_painted(to, s, outcome_paint_of(v), outcome_word(v), shown ? shown : "", used, 4);
	free(shown);
	free(said);
	free(name);
}

static void print_verdict(FILE *to, const struct bsv_screen *s, const struct bsv_answer *a)
{
	const struct bsv_verdict *v = worst_rule(a);
	int paint;

	if (!v)
		return;
	fputs("\nverdict: ", to);
	if (a->n_rules == 1) {
		print_rule(to, s, v, true, (int)strlen("verdict: "));
		return;
	}
	paint = outcome_paint_of(v);
	fprintf(to, "%s%s%s\n", bsv_paint_on(s, paint), outcome_word(v), bsv_paint_off(s, paint));
	for (size_t i = 0; i < a->n_rules; i++) {
		fputs("  ", to);
		print_rule(to, s, &a->rules[i], false, 2);
	}
}

/* The text may contain names, which other users chose. */
static void print_text(FILE *to, const struct bsv_screen *s, int paint, const char *text, int indent)
{
	char *shown = bsv_printable(text, strlen(text), 0);

	bsv_print_wrapped(to, s, paint, shown ? shown : "", indent);
	free(shown);
}

static int print_parts(FILE *to, const struct bsv_screen *s, const struct part *parts, size_t n, bool named,
                       struct bsa_err *err)
{
	bool first = true;

	for (size_t i = 0; i < n; i++) {
		char count[BSV_COUNT_MAX];
		size_t beyond;
		int r;

		if (parts[i].hidden && !named)
			continue;
		if (!first)
			fputc('\n', to);
		first = false;
		if (parts[i].title)
			print_text(to, s, BSV_TITLE, parts[i].title, 2);
		r = bsv_render_table(to, parts[i].rows, s, parts[i].raw, err);
		if (r < 0)
			return r;
		/* Counting rows that are not printed must not take longer than printing would. */
		beyond = bsv_rows_beyond(parts[i].rows, BEYOND_MOST);
		if (beyond)
			fprintf(to, "%s(%s%s more %s)%s\n", bsv_paint_on(s, BSV_FAINT),
			        beyond == BEYOND_MOST ? "at least " : "", bsv_count(count, beyond),
			        bsv_plural(beyond, "row", "rows"), bsv_paint_off(s, BSV_FAINT));
	}
	return 0;
}

static int print_table(FILE *to, const struct bsv_answer *a, const struct part *parts, size_t n, bool judged,
                       const struct bsv_screen *s, struct bsa_err *err)
{
	char text[BSV_COVERAGE_TEXT], line[BSV_COVERAGE_TEXT + 16];
	bool named = a->call->asked.part, shown = a->draw || named;
	int r;

	if (a->replayed) {
		bsv_scoped_text *with = bsv_text("replayed with %s", *a->replayed ? a->replayed : "no change");

		print_text(to, s, BSV_PLAIN, with ? with : "", 2);
		/* a blank line, if a drawing or a part follows */
		for (size_t i = 0; i < n; i++)
			shown |= !parts[i].hidden;
		fputs(shown ? "\n" : "", to);
	}
	r = a->draw && !named ? a->draw(to, s, a->draw_ctx, err) : print_parts(to, s, parts, n, named, err);
	if (r < 0)
		return r;
	if (!named || judged) /* the exit status needs its reason */
		print_verdict(to, s, a);
	for (size_t i = 0; !named && i < a->n_notes; i++) {
		fputs(i ? "" : "\n", to);
		print_text(to, s, BSV_PLAIN, a->notes[i], 2);
	}
	if (a->input && !a->call->common.quiet) {
		snprintf(line, sizeof(line), "coverage: %s", bsv_coverage_text(&a->input->coverage, text));
		fputc('\n', to);
		bsv_print_wrapped(to, s,
		                  a->input->coverage.losses || a->input->coverage.cut ? BSV_UNSURE_PAINT : BSV_FAINT,
		                  line, 2);
	}
	return 0;
}

static int page_table(const struct bsv_answer *a, const struct part *parts, size_t n, bool judged, struct bsa_err *err)
{
	struct bsv_screen s = bsv_screen_get(a->call->asked.color);
	struct bsv_pager pager;
	int r;

	if (a->to)
		return print_table(a->to, a, parts, n, judged, &(struct bsv_screen){ .unicode = s.unicode }, err);
	bsv_pager_begin(&pager, !a->call->asked.no_pager);
	r = print_table(pager.to, a, parts, n, judged, &s, err);
	bsv_pager_end(&pager);
	return r;
}

/* ---- for programs ---- */

static void json_coverage(FILE *to, const struct bsv_input *input)
{
	const struct bsv_coverage *c = input ? &input->coverage : NULL;

	if (!c) {
		fputs(",\"coverage\":null", to);
		return;
	}
	fprintf(to,
	        ",\"coverage\":{\"traces\":%" PRId64 ",\"events\":%" PRId64 ",\"lost_events\":%" PRId64
	        ",\"lost_packets\":%" PRId64 ",\"losses\":%" PRId64 ",\"cut\":%" PRId64,
	        c->traces, c->events, c->lost_events, c->lost_packets, c->losses, c->cut);
	if (c->services > 1)
		fprintf(to, ",\"services\":%" PRId64, c->services);
	if (c->silent_services)
		fprintf(to, ",\"silent_services\":%" PRId64 ",\"silent_ns\":%" PRId64, c->silent_services,
		        c->silent_ns);
	if (c->service_alone)
		fprintf(to, ",\"service_alone\":%" PRId64, c->service_alone);
	if (c->client_alone)
		fprintf(to, ",\"client_alone\":%" PRId64, c->client_alone);
	if (c->headless)
		fprintf(to, ",\"headless\":%" PRId64, c->headless);
	if (c->timed && c->timeless)
		fprintf(to, ",\"timeless\":%" PRId64, c->timeless);
	if (c->unusable)
		fprintf(to, ",\"unusable_events\":%" PRId64, c->unusable);
	if (c->unreadable)
		fprintf(to, ",\"unreadable_traces\":%" PRId64, c->unreadable);
	if (c->impostors)
		fprintf(to, ",\"impostor_events\":%" PRId64, c->impostors);
	if (c->joined_executions)
		fprintf(to, ",\"joined_executions\":%" PRId64, c->joined_executions);
	if (c->joined_waits)
		fprintf(to, ",\"joined_waits\":%" PRId64, c->joined_waits);
	if (c->joined_causes)
		fprintf(to, ",\"joined_causes\":%" PRId64, c->joined_causes);
	if (c->joined_inversions)
		fprintf(to, ",\"joined_inversions\":%" PRId64, c->joined_inversions);
	if (c->joined_streams)
		fprintf(to, ",\"joined_streams\":%" PRId64, c->joined_streams);
	if (c->rival_uid >= 0)
		fprintf(to, ",\"service_uids\":[%" PRId64 ",%" PRId64 "]", c->service_uid, c->rival_uid);
	fputc('}', to);
}

static void json_rule(FILE *to, const struct bsv_verdict *v)
{
	static const char *const passes[] = { [BSV_PASS] = "true", [BSV_FAIL] = "false", [BSV_CANNOT_TELL] = "null" };
	const char *class = v->class ? v->class : "";
	bool time = !strcmp(class, "duration") || !strcmp(class, "time");

	fprintf(to, "\"pass\":%s,", passes[v->outcome]);
	bsv_json_field(to, "name", v->name);
	fputs(",\"figure\":", to);
	bsv_json_real(to, v->figure);
	fputs(",\"bound\":", to);
	bsv_json_real(to, v->bound);
	fputc(',', to);
	bsv_json_field(to, "unit",
	               time                        ? "ns"
	               : !strcmp(class, "bytes")   ? class
	               : !strcmp(class, "percent") ? "%"
	                                           : NULL);
	fputc(',', to);
	bsv_json_field(to, "why", v->why);
	fprintf(to, ",\"judged\":%s", v->outcome == BSV_CANNOT_TELL || v->idle ? "false" : "true");
}

static int print_json(FILE *to, const struct bsv_answer *a, const struct part *parts, size_t n, struct bsa_err *err)
{
	const int64_t *start = a->input ? &a->input->began : NULL;
	const struct bsv_verdict *v = worst_rule(a);
	int r = 0;

	fprintf(to, "{\"schema_version\":%d,", BSV_ANSWER_VERSION);
	bsv_json_field(to, "command", a->call->command->name);
	fputc(',', to);
	bsv_json_field(to, "input", a->input ? a->input->known_as : NULL);
	if (a->replayed) {
		fputc(',', to);
		bsv_json_field(to, "replayed_with", a->replayed);
	}
	json_coverage(to, a->input);
	fputs(",\n", to);
	if (n)
		r = bsv_render_json(to, parts[0].rows, start, err);
	else
		fputs("\"columns\":[],\"rows\":[]", to);
	for (size_t i = 1; i < n && r >= 0; i++) {
		fputs(i > 1 ? ",\n{" : ",\n\"parts\":[{", to);
		bsv_json_field(to, "name", parts[i].name);
		fputc(',', to);
		bsv_json_field(to, "title", parts[i].title);
		fputc(',', to);
		r = bsv_render_json(to, parts[i].rows, start, err);
		fputs(r < 0 || i + 1 == n ? "}]" : "}", to);
	}
	if (r >= 0 && v) {
		fputs(",\n\"verdict\":{", to);
		json_rule(to, v);
		fputs(",\"rules\":[", to);
		for (size_t i = 0; i < a->n_rules; i++) {
			fputs(i ? ",{" : "{", to);
			json_rule(to, &a->rules[i]);
			fputc('}', to);
		}
		fputs("]}", to);
	}
	for (size_t i = 0; i < a->n_notes && r >= 0; i++) {
		fputs(i ? "," : ",\n\"notes\":[", to);
		bsv_json_text(to, a->notes[i], strlen(a->notes[i]));
		fputs(i + 1 == a->n_notes ? "]" : "", to);
	}
	fputs("}\n", to);
	return r;
}

/* ---- all of it ---- */

static void show_sql(const struct bsv_answer *a, const struct part *parts, size_t n)
{
	bool more = false;

	for (size_t i = 0; i < n; i++) {
		const char *sql = parts[i].sql;
		size_t length = sql ? strlen(sql) : 0;

		while (length && strchr(" \t\n;", sql[length - 1]))
			length--;
		printf("%s-- part %s%s\n", more ? "\n" : "", parts[i].name, sql ? "" : " is not of one query");
		if (sql)
			printf("%.*s;\n", (int)length, sql);
		if (sql && a->call->asked.limit)
			printf("-- of this, the first %u\n", a->call->asked.limit);
		more = true;
	}
}

int bsv_answer_print(struct bsv_answer *a, bool judged, struct bsa_err *err)
{
	static const int statuses[] = {
		[BSV_PASS] = BSV_DONE, [BSV_FAIL] = BSV_FAILED, [BSV_CANNOT_TELL] = BSV_UNSURE
	};
	FILE *to = a && a->to ? a->to : stdout;
	const struct bsv_verdict *v;
	const char *long_part; /* of which only the first rows are printed; NULL: none */
	struct part *parts;
	unsigned flags;
	size_t n;
	int r;

	if (!a || a->no_memory)
		return bsv_no_memory(err);
	judged |= a->call->asked.verdict;
	r = parts_choose(a, &parts, &n, err);
	if (r < 0)
		return r;
	if (a->call->asked.show_sql) {
		show_sql(a, parts, n);
		return BSV_DONE;
	}
	long_part = a->call->asked.format == BSV_TABLE && !a->call->asked.part ? a->call->command->long_part : NULL;
	for (size_t i = 0; i < n; i++) {
		bsv_scoped_text *first = NULL;
		struct part *p = &parts[i];
		unsigned most = a->call->asked.limit                       ? a->call->asked.limit
		                : long_part && !strcmp(p->name, long_part) ? BSV_LONG_PART_ROWS
		                                                           : a->call->most;
		char number[16];

		if (p->hidden && !a->call->asked.part && a->call->asked.format == BSV_TABLE)
			continue; /* nothing reads it */
		/*
		 * If only the first rows are printed, the query gets a LIMIT, so that SQLite keeps no others while it
		 * sorts. A table gets none, because it counts the others; nor does a user's own query.
		 */
		snprintf(number, sizeof(number), "%u", most);
		if (p->sql && most && a->call->asked.format != BSV_TABLE && !p->raw)
			first = bsv_fill(bsv_sql_first_rows, (const struct bsv_placeholder[]){ { "rows", p->sql },
			                                                                       { "most", number },
			                                                                       { NULL, NULL } });
		else
			first = p->sql ? strdup(p->sql) : NULL;
		if (p->sql)
			r = first ? bsv_rows_query(&p->rows, a->input->db, first, err) : bsv_no_memory(err);
		if (r < 0)
			return r;
		bsv_rows_limit(p->rows, most);
		r = bsv_rows_peek(p->rows, err);
		if (r < 0)
			return r;
	}
	switch (a->call->asked.format) {
	case BSV_JSON:
		r = print_json(to, a, parts, n, err);
		break;
	case BSV_CSV:
		flags = to == stdout && isatty(STDOUT_FILENO) ? BSV_CSV_ESCAPED : 0;
		flags |= a->call->asked.csv_safe ? BSV_CSV_SAFE : 0;
		r = n ? bsv_render_csv(to, parts[0].rows, a->replayed, flags, err) : 0;
		break;
	default:
		r = page_table(a, parts, n, judged, err);
	}
	if (r < 0)
		return r;
	v = judged ? worst_rule(a) : NULL;
	return v ? statuses[v->outcome] : BSV_DONE;
}
