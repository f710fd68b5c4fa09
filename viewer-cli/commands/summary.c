/*
 * summary.c -- burstscope summary: the content of a recording, how far to trust it, and the
 * headline of every report.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "audit/findings.h"
#include "audit/outcomes.h"
#include "audit/verdicts.h"
#include "base/causes.h"
#include "base/command.h"
#include "base/letters.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "input/fill.h"
#include "render/render.h"

enum { N_AUDITS = BSV_PRIORITY + 1, MOST_NAMED = 4, MOST_NEXT = 4, MUCH_PERCENT = 20 };

struct summary {
	struct bsv_input input;
	struct bsv_answer *answer;
	const struct bsv_call *call;
	struct bsv_judgement judgements[N_AUDITS];
	struct bsv_findings findings;
	struct bsv_rows *trust;
	char *operand; /* input of this call as a shell word behind a blank, to append to a command */
	bool people;   /* whether the output is for people */
};

static void summary_fini(struct summary *s)
{
	bsv_answer_free(s->answer);
	bsv_findings_fini(&s->findings);
	bsv_rows_free(s->trust);
	free(s->operand);
	bsv_input_close(&s->input);
}

/* ---- sentences ---- */

/* A sentence that is printed piece by piece. */
struct sentence {
	char *text;
	size_t bytes;
	FILE *to;
};

static bool sentence_begin(struct sentence *s)
{
	*s = (struct sentence){ .text = NULL };
	s->to = open_memstream(&s->text, &s->bytes);
	return s->to;
}

/* Owned by the caller; NULL: no memory. */
static char *sentence_end(struct sentence *s)
{
	if (fclose(s->to)) {
		free(s->text);
		return NULL;
	}
	return s->text;
}

static void print_count(FILE *to, int64_t n, const char *one, const char *many)
{
	char text[BSV_COUNT_MAX];

	fprintf(to, "%s %s", bsv_count(text, (uint64_t)(n < 0 ? 0 : n)), bsv_plural((uint64_t)n, one, many));
}

static void print_duration(FILE *to, const struct bsv_rows *rows, size_t column)
{
	char text[BSV_DURATION_TEXT];

	fputs(bsv_duration(text, bsv_rows_get(rows, column, 0)), to);
}

static const char *text_of(const struct bsv_rows *rows, size_t column)
{
	return bsv_rows_cell(rows, column).text;
}

/* ---- trust ---- */

/* Columns of summary_trust.sql. */
enum trust_column {
	TRACES,
	HOSTS,
	SESSIONS,
	RULES,
	SPAN,
	EVENTS,
	STREAMS,
	LOSSES,
	LOST_EVENTS,
	LOST_PACKETS,
	EXECUTIONS,
	HEAD,
	INSIDE,
	NOT_YET,
	NO_MORE,
	TAIL,
	GAP,
	OPEN,
	BOTH,
	SERVICE,
	CLIENT,
	TOUCHED,
	CLOCKS,
	OFFSETS,
	UNUSABLE,
	CUT,
	LEFT_OUT,
	UNCHECKED,
	SILENT,
	PERHAPS
};

/* An idle service on a busy machine: LTTng itself may take a second or two to stop. */
enum { SILENT_LEAST_NS = 1000000000, PERHAPS_LEAST = 3 };

/*
 * Print how long nothing was recorded at the end, if that was long: where executions were under way, their service
 * hung, or died.
 */
static void print_silence(FILE *to, const struct bsv_rows *t)
{
	int64_t silent = bsv_rows_get(t, SILENT, 0), perhaps = bsv_rows_get(t, PERHAPS, 0);
	const char *under_way = bsv_rows_get(t, OPEN, 0) ? ", with executions under way" : "";

	if (silent >= SILENT_LEAST_NS) {
		fputs("; NO EVENT of any program in the last ", to);
		print_duration(to, t, SILENT);
		fputs(under_way, to);
	}
	if (perhaps >= (int64_t)SILENT_LEAST_NS * (*under_way ? 1 : PERHAPS_LEAST)) {
		fputs("; it may have gone on for ", to);
		print_duration(to, t, PERHAPS);
		fprintf(to, " without an event%s", under_way);
	}
}

static void print_recording(FILE *to, const struct bsv_rows *t)
{
	print_duration(to, t, SPAN);
	if (text_of(t, HOSTS))
		fprintf(to, " on %s", text_of(t, HOSTS));
	if (bsv_rows_get(t, TRACES, 0) > 1)
		fprintf(to, "; %" PRId64 " traces", bsv_rows_get(t, TRACES, 0));
	if (text_of(t, SESSIONS))
		fprintf(to, "; session %s", text_of(t, SESSIONS));
	fprintf(to, "; %s", text_of(t, RULES) ? text_of(t, RULES) : "the rules of the service were not recorded");
	print_silence(to, t);
}

static void print_events(FILE *to, const struct bsv_rows *t)
{
	int64_t unchecked = bsv_rows_get(t, UNCHECKED, 0), losses = bsv_rows_get(t, LOSSES, 0) - unchecked;

	print_count(to, bsv_rows_get(t, EVENTS, 0), "event", "events");
	fputs(" of ", to);
	print_count(to, bsv_rows_get(t, STREAMS, 0), "stream", "streams");
	if (losses > 0) {
		if (!bsv_rows_get(t, LOST_EVENTS, 0) && !bsv_rows_get(t, LOST_PACKETS, 0)) {
			fputs("; NOT RECORDED: ", to);
		} else {
			fputs("; LOST ", to);
			print_count(to, bsv_rows_get(t, LOST_EVENTS, 0), "event", "events");
			fputs(" and ", to);
			print_count(to, bsv_rows_get(t, LOST_PACKETS, 0), "packet", "packets");
			fputs(" in ", to);
		}
		print_count(to, losses, "interval", "intervals");
		fprintf(to, ", which touched %.1f %% of executions", bsv_rows_cell(t, TOUCHED).real);
	} else if (!unchecked) {
		fputs("; no event was lost", to);
	}
	if (unchecked)
		fputs("; UNKNOWN whether all was recorded: " BSV_UNCHECKED, to);
	if (bsv_rows_get(t, CUT, 0))
		fputs("; its end is missing", to);
	if (bsv_rows_get(t, UNUSABLE, 0) || bsv_rows_get(t, LEFT_OUT, 0)) {
		fputs("; ", to);
		print_count(to, bsv_rows_get(t, UNUSABLE, 0) + bsv_rows_get(t, LEFT_OUT, 0), "item was left out",
		            "items were left out");
	}
}

static void print_executions(FILE *to, const struct bsv_rows *t)
{
	const char *why[] = { "began before the recording",
		              "began in the recording, it is not known when",
		              "began when their app was not recorded yet",
		              "ended when their app was not recorded any more",
		              "without their end",
		              "next to a loss",
		              "still under way" };
	int64_t all = bsv_rows_get(t, EXECUTIONS, 0), whole = all;
	char text[BSV_COUNT_MAX];
	bool first = true;

	for (size_t i = HEAD; i <= OPEN; i++)
		whole -= bsv_rows_get(t, i, 0);
	print_count(to, all, "execution", "executions");
	if (!all)
		return;
	if (!bsv_rows_get(t, LOSSES, 0))
		why[GAP - HEAD] = "not wholly recorded";
	fprintf(to, ", %s%s complete", whole == all ? "all" : bsv_count(text, (uint64_t)whole),
	        whole == all ? "" : " of them");
	for (size_t i = HEAD; i <= OPEN; i++)
		if (bsv_rows_get(t, i, 0)) {
			fprintf(to, "%s%s %s", first ? ": " : ", ", bsv_count(text, (uint64_t)bsv_rows_get(t, i, 0)),
			        why[i - HEAD]);
			first = false;
		}
	if (bsv_rows_get(t, BOTH, 0) == all)
		fputs("; seen from both sides", to);
	if (bsv_rows_get(t, SERVICE, 0))
		fprintf(to, "; %s seen from the service alone", bsv_count(text, (uint64_t)bsv_rows_get(t, SERVICE, 0)));
	if (bsv_rows_get(t, CLIENT, 0))
		fprintf(to, "; %s seen from the client alone", bsv_count(text, (uint64_t)bsv_rows_get(t, CLIENT, 0)));
}

static void print_clock(FILE *to, const struct bsv_rows *t)
{
	fprintf(to, "%s", text_of(t, CLOCKS) ? text_of(t, CLOCKS) : "unknown");
	if (bsv_rows_get(t, OFFSETS, 0) > 1)
		fputs("; hosts are aligned by the offsets of their clocks", to);
}

static int add_trust(struct summary *s, struct bsa_err *err)
{
	static const struct bsv_column columns[] = { { "trust", "text", NULL }, { "", "text", NULL } };
	static const struct {
		const char *name;
		void (*print)(FILE *to, const struct bsv_rows *t);
	} lines[] = { { "recording", print_recording },
		      { "events", print_events },
		      { "executions", print_executions },
		      { "clock", print_clock } };
	struct bsv_rows *rows = bsv_rows_new(columns, 2);

	for (size_t i = 0; rows && i < sizeof(lines) / sizeof(*lines); i++) {
		bsv_scoped_text *text = NULL;
		struct sentence line;

		if (sentence_begin(&line)) {
			lines[i].print(line.to, s->trust);
			text = sentence_end(&line);
		}
		if (!text) {
			bsv_rows_free(rows);
			return bsv_no_memory(err);
		}
		bsv_rows_text(rows, lines[i].name);
		bsv_rows_text(rows, text);
	}
	bsv_answer_rows(s->answer, "trust", NULL, rows);
	return 0;
}

/* ---- diagnosis ---- */

/* NULL below @least. */
static void add_known(struct bsv_rows *rows, int64_t value, int64_t least)
{
	if (value < least)
		bsv_rows_null(rows);
	else
		bsv_rows_int(rows, value);
}

/*
 * Where nothing is known that may help: where to look next; "": a cost, or a row that no finding
 * covers. Owned by the caller; NULL: no memory.
 */
static char *next_text(const struct bsv_finding *f, const char *advised)
{
	bool has_next = !*advised && !bsv_finding_is_rest(f) && strcmp(f->see, "overhead") != 0;
	bsv_scoped_text *command = has_next ? bsv_finding_next(f) : strdup("");

	return !command || !*command ? command ? strdup("") : NULL
	                             : bsv_text("not known; look at what happened then: %s", command);
}

/* People get what is wrong, its evidence and the remedy in one cell, as lines. */
static void add_finding_cell(struct bsv_rows *rows, const struct bsv_finding *f)
{
	bsv_scoped_text *what = bsv_printable(f->what, strlen(f->what), 0);
	bsv_scoped_text *evidence = bsv_finding_evidence(f);
	bsv_scoped_text *certainty = bsv_finding_certainty(f);
	bsv_scoped_text *when = bsv_finding_when(f);
	bsv_scoped_text *proof = f->proof ? bsv_printable(f->proof, strlen(f->proof), 0) : strdup("");
	bsv_scoped_text *fails = bsv_finding_fails(f), *advised = bsv_finding_advised(f);
	bsv_scoped_text *next = advised ? next_text(f, advised) : NULL;
	const char *helps = advised && *advised ? advised : next && *next ? next : NULL;
	bool is_certain = certainty && *certainty, has_proof = proof && *proof;
	bsv_scoped_text *all =
		what && evidence && when && proof && fails && next
			? bsv_text("%s%s%s%s%s%s%s%s%s%s%s%s%s", what, *when ? " (" : "", when, *when ? ")" : "",
	                           evidence, is_certain || has_proof ? "\nCertainty: " : "",
	                           is_certain ? certainty : "", is_certain && has_proof ? "; " : "", proof,
	                           *fails ? "\nFails: " : "", fails, helps ? "\nWhat may help: " : "",
	                           helps ? helps : "")
			: NULL;

	bsv_rows_text(rows, all ? all : f->what);
}

/* Free @text; NULL and "" are nothing. */
static void add_owned_text(struct bsv_rows *rows, char *text)
{
	bsv_rows_text(rows, text && *text ? text : NULL);
	free(text);
}

static int add_diagnosis(struct summary *s, struct bsa_err *err)
{
	static const struct bsv_column columns[] = {
		{ "rank", "number", NULL },     { "finding", "label", NULL }, { "what", "text", NULL },
		{ "who", "text", NULL },        { "culprit", "text", NULL },  { "lost_ns", "duration", "ns" },
		{ "see", "text", NULL },        { "advice", "text", NULL },   { "evidence", "text", NULL },
		{ "first_at", "time", "ns" },   { "last_at", "time", "ns" },  { "doer", "text", NULL },
		{ "certainty", "label", NULL }, { "proof", "text", NULL },    { "misses", "count", NULL },
		{ "sure", "count", NULL },      { "fails", "text", NULL },    { "next", "text", NULL },
	};
	static const struct bsv_column columns_of_people[] = {
		{ "rank", "number", NULL },
		{ "finding", "label", NULL },
		{ "what", "lines", NULL },
	};
	struct bsv_rows *rows =
		s->people ? bsv_rows_new(columns_of_people, sizeof(columns_of_people) / sizeof(*columns_of_people))
			  : bsv_rows_new(columns, sizeof(columns) / sizeof(*columns));

	for (size_t i = 0; rows && i < s->findings.n; i++) {
		const struct bsv_finding *f = &s->findings.of[i];
		bsv_scoped_text *see = bsv_text("burstscope %s%s", f->see, s->operand);
		bsv_scoped_text *advised = bsv_finding_advised(f);

		if (!see || !advised) {
			bsv_rows_free(rows);
			return bsv_no_memory(err);
		}
		bsv_rows_int(rows, (int64_t)i + 1);
		bsv_rows_text(rows, f->finding);
		if (s->people) {
			add_finding_cell(rows, f);
			continue;
		}
		bsv_rows_text(rows, f->what);
		bsv_rows_text(rows, f->who);
		bsv_rows_text(rows, f->culprit);
		add_known(rows, f->lost_ns, 0);
		bsv_rows_text(rows, see);
		bsv_rows_text(rows, *advised ? advised : NULL);
		bsv_rows_text(rows, f->evidence && *f->evidence ? f->evidence : NULL);
		add_known(rows, f->first_at, BSV_WHEN_UNKNOWN + 1);
		add_known(rows, f->last_at, BSV_WHEN_UNKNOWN + 1);
		bsv_rows_text(rows, f->doer);
		bsv_rows_text(rows, bsv_certainty_name(f->certainty));
		bsv_rows_text(rows, f->proof);
		add_known(rows, f->misses, 0);
		add_known(rows, f->misses >= 0 ? f->sure : -1, 0);
		add_owned_text(rows, bsv_finding_fails(f));
		add_owned_text(rows, next_text(f, advised));
	}
	bsv_answer_rows(s->answer, "diagnosis",
	                s->people && s->findings.n && s->findings.of[0].misses >= 0
	                        ? "diagnosis, missed deadlines first"
	                        : "diagnosis",
	                rows);
	if (!s->findings.n)
		bsv_answer_hide(s->answer, "diagnosis");
	return 0;
}

/* ---- headlines ---- */

/* Columns of summary_who.sql, summary_latency.sql and summary_overhead.sql. */
enum who_column {
	WHO_APPS,
	WHO_APP_NAMES,
	WHO_STATUSES,
	WHO_DEADLINES,
	WHO_MISSED,
	WHO_UNKNOWN,
	WHO_UNSEEN,
	WHO_REFUSED,
	WHO_GIVEN_UP,
	WHO_LATE,
	WHO_MISSED_BY,
	WHO_LEFT
};
enum { LONG_APP, LONG_MODEL, LONG_PATH = 3, LONG_COLD, LONG_N, LONG_P50, LONG_P99, LONG_PHASE = 9, LONG_PERCENT };
enum { COST_OVERHEAD, COST_E2E, COST_PERCENT };

struct headlines {
	struct summary *s;
	struct bsv_rows *rows;
};

/* Add a row and free @text. @result NULL: the headline is not a verdict. */
static int add_headline(struct headlines *h, const char *audit, const char *result, char *text, const char *see,
                        struct bsa_err *err)
{
	bsv_scoped_text *own = text, *command = bsv_text("burstscope %s%s", see, h->s->operand);

	if (!own || !command)
		return bsv_no_memory(err);
	bsv_rows_text(h->rows, audit);
	bsv_rows_text(h->rows, result ? result : h->s->people ? "" : NULL);
	bsv_rows_text(h->rows, own);
	if (!h->s->people)
		bsv_rows_text(h->rows, command);
	return 0;
}

static int headline_latency(struct headlines *h, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	struct sentence line;
	char n[BSV_COUNT_MAX];
	int r = bsv_input_row(&rows, &h->s->input, bsv_sql_summary_latency, NULL, err);

	if (r < 0)
		return r;
	if (!sentence_begin(&line))
		return bsv_no_memory(err);
	if (r == 0) {
		fputs("no execution is complete and was answered", line.to);
		return add_headline(h, "latency", NULL, sentence_end(&line), "latency", err);
	}
	fprintf(line.to, "%s's %s (%s%s) takes longest: p50 ",
	        text_of(rows, LONG_APP) ? text_of(rows, LONG_APP) : "an unknown app",
	        text_of(rows, LONG_MODEL) ? text_of(rows, LONG_MODEL) : "model",
	        text_of(rows, LONG_PATH) ? text_of(rows, LONG_PATH) : "?",
	        bsv_rows_cell(rows, LONG_COLD).type != BSA_INT ? ""
	        : bsv_rows_get(rows, LONG_COLD, 0)             ? ", cold"
	                                                       : ", warm");
	print_duration(line.to, rows, LONG_P50);
	fputs(", p99 ", line.to);
	print_duration(line.to, rows, LONG_P99);
	fprintf(line.to, " (n %s)", bsv_count(n, (uint64_t)bsv_rows_get(rows, LONG_N, 0)));
	if (text_of(rows, LONG_PHASE) && bsv_rows_cell(rows, LONG_PERCENT).real >= MUCH_PERCENT)
		fprintf(line.to, "; %.0f %% of its time is %s", bsv_rows_cell(rows, LONG_PERCENT).real,
		        text_of(rows, LONG_PHASE));
	return add_headline(h, "latency", NULL, sentence_end(&line), "latency", err);
}

static int headline_overhead(struct headlines *h, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	struct sentence line;
	int r = bsv_input_row(&rows, &h->s->input, bsv_sql_summary_overhead, NULL, err);

	if (r < 0)
		return r;
	if (!sentence_begin(&line))
		return bsv_no_memory(err);
	if (!r || bsv_rows_cell(rows, COST_PERCENT).type == BSA_NULL) {
		int64_t all = bsv_rows_get(h->s->trust, EXECUTIONS, 0);

		fputs(!all ? "there was no execution"
		      : bsv_rows_get(h->s->trust, CLIENT, 0) == all
		              ? "unknown: the service was not recorded"
		              : "unknown: no execution is complete and was answered",
		      line.to);
	} else {
		fprintf(line.to, "%.1f %% of the time from end to end is not the models' own work: ",
		        bsv_rows_cell(rows, COST_PERCENT).real);
		print_duration(line.to, rows, COST_OVERHEAD);
		fputs(" of ", line.to);
		print_duration(line.to, rows, COST_E2E);
	}
	return add_headline(h, "overhead", NULL, sentence_end(&line), "overhead", err);
}

/* ---- missed deadlines ---- */

/*
 * "the machine 69 (19 sure, 50 likely), gallery 25 (likely), no single doer 10 (...)": they add up
 * to all misses. Owned by the caller; NULL: no memory.
 */
static char *doings_text(const struct bsv_findings *findings)
{
	char count[BSV_COUNT_MAX], others[BSV_COUNT_MAX];
	struct sentence line;

	/* By number, the largest first; those without a named doer are last, in their order. */
	for (size_t i = 1; i < findings->n_doings; i++)
		for (size_t k = i;
		     k > 0 && !findings->doings[k].is_rest &&
		     (findings->doings[k - 1].is_rest || findings->doings[k - 1].n < findings->doings[k].n);
		     k--) {
			struct bsv_doing swapped = findings->doings[k];

			findings->doings[k] = findings->doings[k - 1];
			findings->doings[k - 1] = swapped;
		}
	if (!sentence_begin(&line))
		return NULL;
	for (size_t i = 0; i < findings->n_doings; i++) {
		const struct bsv_doing *d = &findings->doings[i];

		fprintf(line.to, "%s%s %s", i ? ", " : "", d->name, bsv_count(count, (uint64_t)d->n));
		if (d->claims && (d->sure == d->n || !d->sure))
			fputs(d->sure ? " (sure)" : " (likely)", line.to);
		else if (d->claims)
			fprintf(line.to, " (%s sure, %s likely)", bsv_count(count, (uint64_t)d->sure),
			        bsv_count(others, (uint64_t)(d->n - d->sure)));
		if (d->note)
			fprintf(line.to, " (longest delay: %s)", d->note);
	}
	return sentence_end(&line);
}

/*
 * "12 refused or stopped by the service before the deadline, 9 refused or stopped by the service at the deadline or
 * after it"; "": none was missed. Owned by the caller.
 */
static char *missed_how(const struct bsv_rows *who)
{
	static const struct {
		enum who_column column;
		const char *says;
	} kinds[] = { { WHO_REFUSED, "refused or stopped by the service before the deadline" },
		      { WHO_GIVEN_UP, "refused or stopped by the service at the deadline or after it" },
		      { WHO_LATE, "answered after the deadline or not at all" },
		      { WHO_LEFT, "failed for the app after the deadline, before the service had answered" } };
	char n[BSV_COUNT_MAX];
	struct sentence line;
	const char *before = "";

	if (!sentence_begin(&line))
		return NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (bsv_rows_get(who, kinds[i].column, 0)) {
			fprintf(line.to, "%s%s %s", before,
			        bsv_count(n, (uint64_t)bsv_rows_get(who, kinds[i].column, 0)), kinds[i].says);
			before = ", ";
		}
	return sentence_end(&line);
}

/* "704 of 1 036 deadlines were missed (68 %)". Owned by the caller; NULL: no memory. */
static char *missed_text(const struct bsv_rows *who, bool lost)
{
	int64_t deadlines = bsv_rows_get(who, WHO_DEADLINES, 0), missed = bsv_rows_get(who, WHO_MISSED, 0);
	int64_t unknown = bsv_rows_get(who, WHO_UNKNOWN, 0), unseen = bsv_rows_get(who, WHO_UNSEEN, 0);
	char a[BSV_COUNT_MAX], all[BSV_RECORDED_TEXT], percent[BSV_PERCENT_TEXT];

	bsv_recorded(all, deadlines, lost);
	if (!deadlines && !missed && !unknown)
		return strdup("no execution had a deadline");
	if (unknown || unseen)
		return bsv_missed_at_least(&(struct bsv_missed){ deadlines, missed, unknown, unseen, lost });
	if (!missed)
		return bsv_text(lost ? "none of %s deadlines was missed" : "none of %s was missed", all);
	return bsv_text("%s of %s deadlines %s missed (%s %%)", bsv_count(a, (uint64_t)missed), all,
	                missed == 1 ? "was" : "were", bsv_percent(percent, missed, deadlines));
}

/* The sentence of the worst rule; if all rules passed, the sentences of all. */
static int headline_verdict(struct headlines *h, enum bsv_audit audit, const char *name, struct bsa_err *err)
{
	const struct bsv_judgement *j = &h->s->judgements[audit];
	enum bsv_outcome worst = bsv_judged(j);
	const char *result = bsv_judged_nothing(j)               ? "nothing to judge"
	                     : worst == BSV_FAIL && h->s->people ? "FAIL"
	                                                         : bsv_outcome_name(worst);
	const char *last = NULL;
	struct sentence line;

	if (!sentence_begin(&line))
		return bsv_no_memory(err);
	for (size_t i = 0; i < j->n; i++)
		if (j->rules[i].outcome == worst && j->rules[i].why && (!last || strcmp(last, j->rules[i].why))) {
			fprintf(line.to, "%s%s", last ? "; " : "", j->rules[i].why);
			last = j->rules[i].why;
		}
	return add_headline(h, name, result, sentence_end(&line), name, err);
}

static int add_headlines(struct summary *s, const struct bsv_rows *who, struct bsa_err *err)
{
	static const struct bsv_column columns[] = { { "audit", "label", NULL },
		                                     { "result", "label", NULL },
		                                     { "what", "text", NULL },
		                                     { "see", "text", NULL } };
	int64_t more = bsv_rows_get(who, WHO_APPS, 0) - MOST_NAMED;
	const char *by = text_of(who, WHO_MISSED_BY);
	bsv_scoped_text *missed = missed_text(who, s->input.coverage.losses > 0), *how = missed_how(who);
	bsv_scoped_text *doing = doings_text(&s->findings);
	bsv_scoped_rows *rows = bsv_rows_new(columns, s->people ? 3 : 4);
	struct headlines h = { .s = s, .rows = rows };
	struct sentence line;
	int r;

	if (!missed || !how || !doing || !rows || !sentence_begin(&line))
		return bsv_no_memory(err);
	fprintf(line.to, "by app: %s", text_of(who, WHO_APP_NAMES) ? text_of(who, WHO_APP_NAMES) : "none");
	if (more > 0)
		fprintf(line.to, ", and %" PRId64 " more", more);
	fprintf(line.to, "; by status: %s", text_of(who, WHO_STATUSES) ? text_of(who, WHO_STATUSES) : "none");
	r = add_headline(&h, "executions", NULL, sentence_end(&line), "latency", err);
	if (r >= 0)
		r = headline_latency(&h, err);
	if (r >= 0)
		r = headline_overhead(&h, err);
	if (r >= 0)
		r = add_headline(&h, "misses", NULL,
		                 bsv_text("%s%s%s%s%s%s%s", missed, by ? "; who missed: " : "", by ? by : "",
		                          *doing ? "; whose doing: " : "", doing, *how ? "; how: " : "", how),
		                 "misses", err);
	if (r >= 0)
		r = headline_verdict(&h, BSV_STARVATION, "starvation", err);
	if (r >= 0)
		r = headline_verdict(&h, BSV_PRIORITY, "priority", err);
	if (r >= 0)
		r = headline_verdict(&h, BSV_FAIRNESS, "fairness", err);
	if (r < 0)
		return r;
	bsv_answer_rows(s->answer, "audits", s->people ? "headline of every report" : "audits", rows);
	rows = NULL; /* the answer owns the rows now */
	return 0;
}

/* ---- commands to run next ---- */

static int add_next(struct summary *s, int64_t missed, struct bsa_err *err)
{
	bsv_scoped_rows *refused = NULL;
	const char *first = "next:", *then = s->people ? "     " : first;
	size_t n = 0;

	if (!bsv_rows_get(s->trust, EXECUTIONS, 0) && !s->findings.n) {
		int r = bsv_input_row(&refused, &s->input, bsv_sql_memory_exhausted, NULL, err);

		bsv_answer_note(
			s->answer, "%s",
			r > 0 ? "The recording contains no executions; requests beyond the limit of memory were "
				"refused: burstscope memory --part exhausted"
			      : "The recording contains nothing to analyse: burstscope doctor shows what a "
				"recording needs.");
		return r;
	}
	for (size_t i = 0; i < s->findings.n && n < MOST_NEXT; i++) {
		const char *see = s->findings.of[i].see;
		size_t same = 0; /* the first finding that names the same command */

		while (strcmp(s->findings.of[same].see, see))
			same++;
		if (same == i)
			bsv_answer_note(s->answer, "%s burstscope %s%s", n++ ? then : first, see, s->operand);
	}
	if (!bsv_rows_get(s->trust, EXECUTIONS, 0))
		return 0;
	if (missed && s->findings.settings.replayable)
		bsv_answer_note(s->answer, "%s burstscope whatif --advise%s", n++ ? then : first, s->operand);
	bsv_answer_note(s->answer, "%s burstscope explain %s%s", n ? then : first, missed ? "worst" : "slowest",
	                s->operand);
	return 0;
}

/* ---- the command ---- */

static int add_parts(struct summary *s, struct bsa_err *err)
{
	static const struct bsv_column missed[] = { { "what", "text", NULL },
		                                    { "who", "text", NULL },
		                                    { "doing", "text", NULL },
		                                    { "how", "text", NULL },
		                                    { "mostly", "text", NULL } };
	bsv_scoped_text *unknown = bsv_unknown_deadlines(&s->input);
	bsv_scoped_text *unseen = bsv_unseen_outcomes(&s->input);
	const struct bsv_placeholder placeholders[] = { { "n_unknown", unknown },
		                                        { "n_unseen", unseen },
		                                        { NULL, NULL } };
	bsv_scoped_rows *who = NULL;
	char n[BSV_COUNT_MAX];
	int r = bsv_input_row(&who, &s->input, bsv_sql_summary_who, placeholders, err);

	if (r >= 0 && s->people)
		r = add_trust(s, err);
	if (r >= 0)
		r = add_diagnosis(s, err);
	if (r < 0)
		return r;
	if (!s->people) {
		bsv_answer_sql(s->answer, "trust", "trust", bsv_input_fill(&s->input, bsv_sql_summary_trust, NULL));
		bsv_answer_sql(s->answer, "executions", "executions",
		               bsv_input_fill(&s->input, bsv_sql_summary_executions, NULL));
	}
	if (bsv_rows_get(s->trust, EXECUTIONS, 0) || s->findings.n || !s->people)
		r = add_headlines(s, who, err);
	if (r >= 0 && !s->people) {
		/* For programs: the sentence about missed deadlines in its parts. */
		bsv_scoped_text *what = missed_text(who, s->input.coverage.losses > 0), *how = missed_how(who);
		bsv_scoped_text *doing = doings_text(&s->findings);
		struct bsv_rows *rows = what && how && doing ? bsv_rows_new(missed, 5) : NULL;
		const struct bsv_doing *most = s->findings.doings; /* the app with the most misses */
		bool is_named = s->findings.n_doings && !most->is_rest;

		if (rows && bsv_rows_get(who, WHO_MISSED, 0)) {
			bsv_rows_text(rows, what);
			bsv_rows_text(rows, text_of(who, WHO_MISSED_BY));
			bsv_rows_text(rows, doing);
			bsv_rows_text(rows, how);
			add_owned_text(rows, is_named ? bsv_text("%s: %s", most->name, bsv_count(n, (uint64_t)most->n))
			                              : NULL);
		}
		bsv_answer_rows(s->answer, "missed", "missed", rows);
		r = rows ? 0 : bsv_no_memory(err);
	}
	if (s->call->asked.verdict) {
		bsv_scoped_text *what = missed_text(who, s->input.coverage.losses > 0);

		bsv_answer_note(
			s->answer,
			"The verdict is the worst of fairness, priority and starvation. Deadlines are not judged "
			"here, but by burstscope check: %s.",
			what ? what : "");
	}
	return r < 0 ? r : add_next(s, bsv_rows_get(who, WHO_MISSED, 0), err);
}

/* @name as a word of a shell, behind a blank; owned by the caller. */
static char *shell_word(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+:@%,-";
	struct sentence word;

	if (!name)
		return strdup("");
	if (*name && name[strspn(name, plain)] == 0)
		return bsv_text(" %s", name);
	if (!sentence_begin(&word))
		return NULL;
	fputs(" '", word.to);
	for (; *name; name++)
		if (*name == '\'')
			fputs("'\\''", word.to);
		else
			fputc(*name, word.to);
	fputc('\'', word.to);
	return sentence_end(&word);
}

static int summary_run(const struct bsv_call *call, struct bsa_err *err)
{
	__attribute__((cleanup(summary_fini))) struct summary s = { .call = call };
	int r = bsv_input_open(&s.input, call->operands[0], call, err);

	if (r >= 0 && call->asked.verdict) /* no rule holds of nothing */
		r = bsv_input_needs_executions(&s.input, err);
	if (r < 0)
		return r;
	s.people = call->asked.format == BSV_TABLE && !call->asked.show_sql;
	s.answer = bsv_answer_new(call, &s.input);
	s.operand = shell_word(call->known_as ? call->known_as : call->operands[0]);
	if (!s.answer || !s.operand)
		return bsv_no_memory(err);
	for (size_t i = 0; i < N_AUDITS && r >= 0; i++)
		r = bsv_judge(&s.judgements[i], (enum bsv_audit)i, &s.input, NULL, err);
	if (r >= 0)
		r = bsv_findings_read(&s.findings, &s.input, s.judgements, err);
	if (r >= 0)
		r = bsv_input_row(&s.trust, &s.input, bsv_sql_summary_trust, NULL, err);
	if (r >= 0)
		r = add_parts(&s, err);
	if (r < 0)
		return r;
	if (!s.people || call->asked.verdict)
		for (size_t i = 0; i < N_AUDITS; i++)
			for (size_t j = 0; j < s.judgements[i].n; j++)
				bsv_answer_verdict(s.answer, &s.judgements[i].rules[j]);
	return bsv_answer_print(s.answer, false, err);
}

const struct bsv_command bsv_summary = {
	.name = "summary",
	.operands = "[INPUT]",
	.says = "content of a recording, how far to trust it, and the headline of every report",
	.examples = "  burstscope summary\n"
		    "  burstscope summary bursts.db\n"
		    "  burstscope summary --format json bursts.db | jq '.rows[0]'\n"
		    "  burstscope summary --verdict bursts.db\n",
	.more = "The part diagnosis lists the problems: missed deadlines by their doers, the most frequent "
		"first, then inversions, starvation, apps that got less than their share, and last the main cause "
		"of overhead. What one app does to others is one finding. --verdict is the worst verdict of "
		"fairness, priority and starvation; like these it needs executions. burstscope check judges "
		"deadlines.\n",
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "trust", "diagnosis", "audits", "executions", "missed", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_VERDICT,
	.whole = true,
	.run = summary_run,
};
