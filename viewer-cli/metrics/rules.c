/*
 * rules.c -- Prometheus rules from rules of `check`.
 *
 * BURN RATE  A rule such as `p99 e2e <= 5ms` allows 1 % of executions above 5 ms: its budget. The
 *            share above it in a window, over the budget, is how fast the budget is spent. An alert
 *            fires if it is spent too fast in a long window, and is still in a short one, so that
 *            it ends soon after the cause: 14.4 times in 1 h and 5 min, 6 times in 6 h and 30 min:
 *            page; 3 times in 1 d and 2 h, once in 3 d and 6 h: ticket. (14.4 times is 2 % of the
 *            budget of 30 days in an hour.)
 * LIMITS     A share is never more than 1: where the budget is so large that it cannot be spent
 *            that fast, that pair of windows is left out.
 */
#include "metrics/generated.h"

#include <math.h>
#include <string.h>

static const unsigned windows_s[] = { 300, 1800, 3600, 7200, 21600, 86400, 259200 };

static const struct pair {
	unsigned long_s, short_s;
	double burn;
	const char *severity;
} pairs[] = { { 3600, 300, 14.4, "page" },
	      { 21600, 1800, 6, "page" },
	      { 86400, 7200, 3, "ticket" },
	      { 259200, 21600, 1, "ticket" } };

struct writing {
	FILE *to;
	const struct bsv_slo_rule *rule;
	unsigned scale;
};

/* Seconds, and where that is no whole number, milliseconds. */
static void window(const struct writing *w, unsigned seconds)
{
	unsigned ms = (unsigned)((uint64_t)seconds * 1000 / w->scale);

	if (ms % 1000)
		fprintf(w->to, "%ums", ms);
	else if (ms % 3600000 == 0)
		fprintf(w->to, "%uh", ms / 3600000);
	else if (ms % 60000 == 0)
		fprintf(w->to, "%um", ms / 60000);
	else
		fprintf(w->to, "%us", ms / 1000);
}

/* ---- what of a rule metrics can tell ---- */

/* NULL: they can. */
static const char *untold(const struct bsv_slo_rule *r)
{
	bool of_phase = r->kind == BSV_SLO_TIME && r->phase != BSV_E2E;

	if (r->baseline)
		return "metrics have no baseline";
	if (r->of.priority || r->of.cold >= 0)
		return "metrics do not tell priorities, or cold from warm";
	switch (r->kind) {
	case BSV_SLO_TIME:
		if (of_phase && (r->of.app || r->of.path))
			return "metrics of phases have no labels app and path";
		return r->bound > 0 ? NULL : "no bucket ends at 0";
	case BSV_SLO_MISSES:
		return r->of.path ? "metrics of deadlines have no label path" : NULL;
	case BSV_SLO_STARVATION:
		return r->bounded ? "the metric counts waits of more than 100 ms" : NULL;
	case BSV_SLO_FAIRNESS:
		return r->bounded ? NULL : "without a bound it needs a replay: burstscope check";
	case BSV_SLO_COVERAGE:
		return NULL;
	default:
		return "it needs each execution: burstscope check";
	}
}

bool bsv_metrics_buckets(struct bsv_buckets *ret, const struct bsv_slo *slo)
{
	bsv_buckets_init(ret);
	for (size_t i = 0; i < slo->n; i++)
		if (slo->rules[i].kind == BSV_SLO_TIME && !untold(&slo->rules[i]) &&
		    !bsv_buckets_add(ret, (int64_t)slo->rules[i].bound))
			return false;
	return true;
}

/* ---- expressions ---- */

static void select_label(const struct writing *w, const char *label, const char *value, bool *more)
{
	if (!value)
		return;
	fprintf(w->to, "%s%s=", *more ? "," : "", label);
	bsv_metrics_quoted(w->to, value);
	*more = true;
}

/* sum(rate(METRIC{the rule's selection, EXTRA}[WINDOW])) */
static void rate(const struct writing *w, enum bsv_metric id, const char *suffix, unsigned seconds, const char *le)
{
	const struct bsv_slo_rule *r = w->rule;
	bool more = false;

	fprintf(w->to, "sum(rate(%s%s{", bsv_metric_infos[id].name, suffix);
	select_label(w, "app", r->of.app, &more);
	select_label(w, "model", r->of.model, &more);
	select_label(w, "path", r->of.path, &more);
	if (id == BSV_METRIC_PHASE)
		select_label(w, "phase", bsv_phase_names[r->phase], &more);
	select_label(w, "le", le, &more);
	fputs("}[", w->to);
	window(w, seconds);
	fputs("]))", w->to);
}

/* The share that was bad in the window. */
static void bad_share(const struct writing *w, unsigned seconds)
{
	enum bsv_metric id = w->rule->phase == BSV_E2E ? BSV_METRIC_DURATION : BSV_METRIC_PHASE;
	char le[BSV_BOUND_TEXT];

	switch (w->rule->kind) {
	case BSV_SLO_TIME:
		fputs("1 - ", w->to);
		rate(w, id, "_bucket", seconds, bsv_bound_text(le, (int64_t)w->rule->bound));
		fputs(" / ", w->to);
		rate(w, id, "_count", seconds, NULL);
		break;
	case BSV_SLO_MISSES:
		rate(w, BSV_METRIC_MISSED, "_total", seconds, NULL);
		fputs(" / ", w->to);
		rate(w, BSV_METRIC_DEADLINES, "_total", seconds, NULL);
		break;
	default:
		rate(w, BSV_METRIC_LOST_EVENTS, "_total", seconds, NULL);
		fputs(" / (", w->to);
		rate(w, BSV_METRIC_LOST_EVENTS, "_total", seconds, NULL);
		fputs(" + ", w->to);
		rate(w, BSV_METRIC_EVENTS, "_total", seconds, NULL);
		fputs(")", w->to);
	}
}

/* ---- rules ---- */

static void labels(const struct writing *w, const char *severity)
{
	fprintf(w->to, "        labels:\n          slo_line: \"%u\"\n", w->rule->line);
	if (severity)
		fprintf(w->to, "          severity: %s\n", severity);
}

static void annotations(const struct writing *w, const char *what)
{
	fputs("        annotations:\n          summary: ", w->to);
	bsv_metrics_quoted(w->to, w->rule->text);
	fprintf(w->to, "\n          description: %s\n", what);
}

static void recorded_name(const struct writing *w, unsigned seconds)
{
	fputs("burstscope_slo:bad_share:rate", w->to);
	window(w, seconds);
}

static void burnt(const struct writing *w, unsigned seconds, double most)
{
	recorded_name(w, seconds);
	fprintf(w->to, "{slo_line=\"%u\"} > %.12g", w->rule->line, most);
}

static void alert_burn(const struct writing *w)
{
	const struct bsv_slo_rule *r = w->rule;
	double bad_percent = r->kind == BSV_SLO_TIME       ? 100 - r->percent
	                     : r->kind == BSV_SLO_COVERAGE ? 100 - r->bound
	                                                   : r->bound;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		double most = pairs[i].burn * (bad_percent / 100);

		if (most >= 1) {
			fprintf(w->to, "      # the budget of line %u cannot be spent %g times as fast as it comes\n",
			        w->rule->line, pairs[i].burn);
			continue;
		}
		fputs("      - alert: BurstscopeSloBudgetBurn\n        expr: |-\n          ", w->to);
		burnt(w, pairs[i].long_s, most);
		fputs(" and ", w->to);
		burnt(w, pairs[i].short_s, most);
		fputc('\n', w->to);
		labels(w, pairs[i].severity);
		fputs("          window: ", w->to);
		window(w, pairs[i].long_s);
		fputc('\n', w->to);
		annotations(w, "The budget of this objective is spent too fast; burstscope explain says why.");
	}
}

static void alert_other(const struct writing *w)
{
	bool starved = w->rule->kind == BSV_SLO_STARVATION;

	fprintf(w->to, "      - alert: %s\n        expr: |-\n          ",
	        starved ? "BurstscopeStarvation" : "BurstscopeUnfair");
	if (starved) {
		fprintf(w->to, "sum by (app) (increase(%s_total[", bsv_metric_infos[BSV_METRIC_STARVATIONS].name);
		window(w, 3600);
		/* a series that is new has its first waits in its first sample, which increase() does not see */
		fprintf(w->to, "])) > 0\n          or sum by (app) (%s_total unless %s_total offset ",
		        bsv_metric_infos[BSV_METRIC_STARVATIONS].name, bsv_metric_infos[BSV_METRIC_STARVATIONS].name);
		window(w, 3600);
		fputs(") > 0\n", w->to);
	} else {
		fprintf(w->to, "%s > %.12g # burstscope exporter has it with --detail full only\n",
		        bsv_metric_infos[BSV_METRIC_LAG].name, w->rule->bound / 1e9);
	}
	labels(w, "ticket");
	annotations(w, starved ? "\"{{ $labels.app }} waited for a lane for longer than 100 ms.\""
	                       : "\"{{ $labels.app }} was {{ $value }} s behind its share.\"");
}

size_t bsv_metrics_untold(const struct bsv_slo *slo)
{
	size_t n = 0;

	for (size_t i = 0; i < slo->n; i++)
		n += untold(&slo->rules[i]) != NULL;
	return n;
}

void bsv_metrics_rules(FILE *to, const struct bsv_slo *slo, const char *file, unsigned scale)
{
	struct writing w = { .to = to, .scale = scale };
	bool any = false;

	fputs("# Rules for Prometheus, made by `burstscope export --to rules --slo ", to);
	for (; *file; file++)
		fputc((unsigned char)*file < ' ' || (unsigned char)*file >= 127 ? '?' : *file, to);
	fputs("`. The comment of each group is the rule that it is of.\ngroups:", to);
	for (size_t i = 0; i < slo->n; i++)
		any |= !untold(&slo->rules[i]);
	fputs(any ? "\n" : " []\n", to);
	for (size_t i = 0; i < slo->n; i++) {
		const char *why = untold(&slo->rules[i]);

		w.rule = &slo->rules[i];
		fprintf(to, "  # line %u: %s%s%s\n", w.rule->line, w.rule->text, why ? ": left out: " : "",
		        why ? why : "");
		if (why)
			continue;
		fprintf(to, "  - name: burstscope_slo_line_%u\n    rules:\n", w.rule->line);
		if (w.rule->kind == BSV_SLO_TIME || w.rule->kind == BSV_SLO_MISSES ||
		    w.rule->kind == BSV_SLO_COVERAGE) { /* the rule has a budget */
			for (size_t j = 0; j < sizeof(windows_s) / sizeof(*windows_s); j++) {
				fputs("      - record: ", w.to);
				recorded_name(&w, windows_s[j]);
				fputs("\n        expr: |-\n          ", w.to);
				bad_share(&w, windows_s[j]);
				fputc('\n', w.to);
				labels(&w, NULL);
			}
			alert_burn(&w);
		} else {
			alert_other(&w);
		}
	}
}
