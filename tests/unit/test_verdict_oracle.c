/*
 * test_verdict_oracle.c -- holds the verdicts of burstscope against the truth of random simulated worlds, parts of
 * which are not recorded: a pass is true of everything that happened, a fail has a violation behind it, and an
 * execution that is marked complete equals the truth.
 *
 * The set-up plays all worlds; then each property is a test. A failure names the seed and the variant (what was lost):
 *
 *   test_verdict_oracle                the worlds 1 to NNB_SEEDS, and more until NNB_SOAK_SECONDS are over
 *   test_verdict_oracle SEED VARIANT   one world, printed: what happened, what was lost, what burstscope makes of it
 *   test_verdict_oracle all            all variants of each world, and known[] is ignored
 *   test_verdict_oracle all VARIANT    the same of one variant
 *
 * NNB_FIRST is the first world. The table known[] lists today's defects. A fix deletes its row.
 */
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/group_truth.h"
#include "analyzer/judged.h"
#include "analyzer/schedule_truth.h"
#include "analyzer/verdict_truth.h"
#include "base.h"

#ifndef SEEDS
#define SEEDS 60
#endif
#define NEVER BSA_NEVER

enum { CLIENTS_LATE = 20000000, EXAMPLES = 3, ROTATION = 6 };

/*
 * The largest accepted percentage of inconclusive verdicts next to one hole of 1 %. Verdicts are inconclusive because:
 *   inversion   limits are some 1 ms, and holes are longer: an execution that waits when the hole begins may wait in
 *               all of it, while a less urgent execution of its app has the lane.
 *   fairness    an execution that waited when the hole began, or became ready in it, may have waited or be over until
 *               its next event: each lag may rise by half of that time. The next event shows which, but the fold does
 *               not look ahead to it.
 *   broken      the figure is beyond the limit by less than the hole may have changed either.
 */
enum { CANNOT_TELL_MOST = 20 };

enum property {
	NO_FALSE_PASS,
	NO_FALSE_FAIL,
	EQUALS_TRUTH,
	COMPLETE_IS_TRUE,
	COUNTS_ARE_TRUE,
	WAITS_ARE_TRUE,
	SHOWN_FAILS,
	STANDS,
	GROUP_NO_FALSE_PASS,
	GROUP_NO_FALSE_FAIL,
	PROPERTIES
};

static const char *const property_names[PROPERTIES] = {
	[NO_FALSE_PASS] = "verdict pass, but the rule was broken",
	[NO_FALSE_FAIL] = "verdict fail, but the rule was kept",
	[EQUALS_TRUTH] = "no event was lost, but the verdict differs from the truth",
	[COMPLETE_IS_TRUE] = "an execution is marked complete, but differs from the truth",
	[COUNTS_ARE_TRUE] = "a count exceeds the truth",
	[WAITS_ARE_TRUE] = "a wait is told that did not happen, or not so",
	[SHOWN_FAILS] = "a violation was recorded in full, but the verdict is not fail",
	[STANDS] = "the hole lies outside the judged time, but the verdict changed",
	[GROUP_NO_FALSE_PASS] = "check passes a rule about a group that was broken",
	[GROUP_NO_FALSE_FAIL] = "check fails a rule about a group that was kept",
};

static const char *const rule_names[TRUTH_RULES] = { "lag", "starvation", "inversion", "honoured", "fairness" };

/* Checks of executions, numbered as rules are. */
enum { BOUNDARIES, WAITS };

/* Rules about groups, likewise. */
static const char *const group_rules[] = { "percentile", "misses", "streak", "executions" };

static unsigned group_rule(enum bsv_slo_kind kind)
{
	return kind == BSV_SLO_MISSES ? 1 : kind == BSV_SLO_STREAK ? 2 : kind == BSV_SLO_EXECUTIONS ? 3 : 0;
}

static const char *part_name(enum property p, unsigned rule)
{
	static const char *const parts[] = { "boundaries", "waits" };

	if (p == GROUP_NO_FALSE_PASS || p == GROUP_NO_FALSE_FAIL)
		return group_rules[rule];
	return p == COMPLETE_IS_TRUE || p == COUNTS_ARE_TRUE || p == WAITS_ARE_TRUE ? parts[rule] : rule_names[rule];
}

/* ---- failed checks, by property and variant ---- */

struct example {
	uint64_t seed;
	size_t n_events;
	char text[900];
};

static char path[64]; /* of the database */

static struct score {
	unsigned checks, wrong;
	struct example examples[EXAMPLES]; /* from the smallest worlds, smallest first */
} scores[PROPERTIES][CUT_KINDS][TRUTH_RULES];

static unsigned told[CUT_KINDS][TRUTH_RULES][3], tellable[CUT_KINDS][TRUTH_RULES], untold[CUT_KINDS][TRUTH_RULES];
static unsigned truths[TRUTH_RULES][3]; /* broken, kept, undecided */
static unsigned unknown_waits, all_waits;

static struct playing {
	uint64_t seed;
	enum cut_kind kind;
	unsigned forms;
	size_t n_events;
	bool loud;
} now;

static const char *forms_name(unsigned forms)
{
	return forms == SIM_FULL ? "full" : forms == SIM_COMPACT ? "compact" : "both";
}

static void __attribute__((format(printf, 3, 4))) check_failed(enum property p, unsigned rule, const char *format, ...)
{
	struct score *score = &scores[p][now.kind][rule];
	struct example e = { .seed = now.seed, .n_events = now.n_events };
	va_list list;
	int n = snprintf(e.text, sizeof(e.text),
	                 "seed %" PRIu64 ", %s (variant %d), %s events, %zu of them: ", now.seed, cut_name(now.kind),
	                 now.kind, forms_name(now.forms), now.n_events);

	va_start(list, format);
	vsnprintf(e.text + n, sizeof(e.text) - (size_t)n, format, list);
	va_end(list);
	score->wrong++;
	if (now.loud)
		printf("WRONG (%s): %s\n", property_names[p], e.text);
	for (int i = 0; i < EXAMPLES; i++)
		if (!score->examples[i].seed || e.n_events < score->examples[i].n_events) {
			struct example before = score->examples[i];

			score->examples[i] = e;
			e = before;
			if (!e.seed || e.seed == now.seed)
				break;
		}
}

#define CHECK(p, rule, is, ...)                             \
	do {                                                \
		scores[p][now.kind][rule].checks++;         \
		if (!(is))                                  \
			check_failed(p, rule, __VA_ARGS__); \
	} while (0)

/* ---- verdicts ---- */

/*
 * Whether the rule has a figure to compare with the truth's. The bound of fairness is that of the truth to
 * the nearest ns.
 */
static bool is_figure(unsigned rule, const struct judged_rule *r, const struct truth_verdict *t)
{
	switch (rule) {
	case TRUTH_SHARING:
		return true; /* the figure is the replay's */
	case TRUTH_STARVATION:
		return r->figure == (double)t->count;
	case TRUTH_INVERSION:
		return t->count ? r->figure == t->figure && r->bound == t->bound : r->figure == 0;
	case TRUTH_FAIRNESS:
		return fabs(r->figure - (t->figure > 0 ? t->figure : 0)) < 2;
	default:
		return fabs(r->figure - t->figure) < 1e-9;
	}
}

/*
 * Summaries come when executions are over, so they do not show whether one still waits at the recording's
 * end.
 */
static bool reports_open_ones(void)
{
	return now.forms != SIM_COMPACT;
}

/* The lag of a recording without the summaries of executions under way at its end. */
static bool is_less(unsigned rule, const struct judged_rule *r, const struct truth_verdict *t)
{
	return rule == TRUTH_FAIRNESS && r->figure < t->figure;
}

static void check_verdicts(const struct judged *j, const struct truth_verdict *truth)
{
	for (unsigned i = 0; i < TRUTH_RULES; i++) {
		const struct judged_rule *r = &j->rules[i];
		const struct truth_verdict *t = &truth[i];

		if (t->unsure)
			continue;
#define STORY                                                                                                      \
	"%s: figure %.0f, bound %.0f (%s); the truth: figure %.0f, bound %.0f (%s), from %" PRIu64 " to %" PRIu64, \
		rule_names[i], r->figure, r->bound, r->why, t->figure, t->bound, t->what, t->from, t->until
		if (t->broken)
			CHECK(NO_FALSE_PASS, i, r->outcome != BSV_PASS, STORY);
		if (t->kept)
			CHECK(NO_FALSE_FAIL, i, r->outcome != BSV_FAIL, STORY);
		if (t->shown)
			CHECK(SHOWN_FAILS, i, r->outcome == BSV_FAIL, STORY);
		/*
		 * Where summaries are still missing, choices at the end do not count, and a lag is a lower
		 * bound.
		 */
		if (now.kind == CUT_NOTHING && (r->outcome == BSV_FAIL || r->outcome == BSV_PASS) &&
		    (reports_open_ones() || (i != TRUTH_HONOURED && !is_less(i, r, t))))
			CHECK(EQUALS_TRUTH, i, is_figure(i, r, t), STORY);
		if (now.kind == CUT_NOTHING)
			CHECK(EQUALS_TRUTH, i,
			      r->outcome == (t->broken    ? BSV_FAIL
			                     : t->nothing ? BSV_CANNOT_TELL
			                                  : BSV_PASS) ||
			              (r->outcome == BSV_CANNOT_TELL && !reports_open_ones()),
			      STORY);
		told[now.kind][i][r->outcome]++;
		if (!t->nothing) {
			tellable[now.kind][i]++;
			untold[now.kind][i] += r->outcome == BSV_CANNOT_TELL;
		}
#undef STORY
	}
}

static void check_stands(const struct judged *j, const struct judged *without)
{
	for (unsigned i = 0; i < TRUTH_SHARING; i++) /* earlier events decide which executions were ready */
		CHECK(STANDS, i, j->rules[i].outcome == without->rules[i].outcome,
		      "%s: %s, figure %.0f, bound %.0f (%s); without it: %s, figure %.0f, bound %.0f (%s)",
		      rule_names[i], bsv_outcome_name(j->rules[i].outcome), j->rules[i].figure, j->rules[i].bound,
		      j->rules[i].why, bsv_outcome_name(without->rules[i].outcome), without->rules[i].figure,
		      without->rules[i].bound, without->rules[i].why);
}

/* ---- executions ---- */

static const char *const boundaries[] = { "submitted",      "request_written", "request_read", "decoded",
	                                  "fenced",         "enqueued",        "dispatched",   "run_ended",
	                                  "result_written", "result_read",     "returned",     "signalled" };
static const char *const phases[] = { "prepare", "send",      "decode", "fence",  "slots",  "queue",
	                              "run",     "preempted", "reply",  "return", "finish", "signal" };

/* A complete execution has every boundary of its side. The answer to a launch is a mark, and may be missing. */
static bool has_boundary(const struct bsa_execution *x, const struct bsa_execution *is, int b)
{
	bool client = b == BSA_SUBMITTED || b == BSA_REQUEST_WRITTEN || b == BSA_RESULT_READ || b == BSA_RETURNED;
	bool answer = b == BSA_RESULT_WRITTEN || b == BSA_RESULT_READ || b == BSA_RETURNED;

	if (is->at[BSA_SIGNALLED] != NEVER && answer)
		return false;
	return x->sides == BSA_SIDES_BOTH || client == (x->sides == BSA_SIDES_CLIENT);
}

#define OF_EXEC(format, ...) "exec %#" PRIx64 ": " format, x->exec, __VA_ARGS__

static void check_boundaries(const struct bsa_execution *x, const struct bsa_execution *is)
{
	for (int b = 0; b < BSA_BOUNDARIES; b++)
		if (has_boundary(x, is, b))
			CHECK(COMPLETE_IS_TRUE, BOUNDARIES, x->at[b] == is->at[b],
			      OF_EXEC("%s at %" PRIu64 ", and was at %" PRIu64, boundaries[b], x->at[b], is->at[b]));
		else if (x->at[b] != NEVER)
			CHECK(COMPLETE_IS_TRUE, BOUNDARIES, x->at[b] == is->at[b],
			      OF_EXEC("%s at %" PRIu64 ", and was at %" PRIu64, boundaries[b], x->at[b], is->at[b]));
	for (int p = 0; p < BSA_PHASES; p++)
		if (x->sides == BSA_SIDES_BOTH || x->phase[p] != NEVER)
			CHECK(COMPLETE_IS_TRUE, BOUNDARIES, x->phase[p] == is->phase[p],
			      OF_EXEC("%s took %" PRIu64 " ns, and was %" PRIu64, phases[p], x->phase[p],
			              is->phase[p]));
}

static void check_end(const struct bsa_execution *x, const struct bsa_execution *is)
{
	if (x->sides == BSA_SIDES_CLIENT)
		return;
	CHECK(COMPLETE_IS_TRUE, BOUNDARIES, x->status == is->status,
	      OF_EXEC("status %u, and was %u", x->status, is->status));
	CHECK(COMPLETE_IS_TRUE, BOUNDARIES, x->redo == is->redo,
	      OF_EXEC("%" PRIu64 " ns done again, and was %" PRIu64, x->redo, is->redo));
	CHECK(COMPLETE_IS_TRUE, BOUNDARIES, x->preemptions == is->preemptions,
	      OF_EXEC("%u preemptions, and there were %u", x->preemptions, is->preemptions));
	CHECK(COMPLETE_IS_TRUE, BOUNDARIES, x->cold < 0 || x->cold == is->cold,
	      OF_EXEC("cold %d, and was %d", x->cold, is->cold));
	CHECK(COMPLETE_IS_TRUE, BOUNDARIES, !x->idle || is->idle, OF_EXEC("an idle lane, which was not: %d", is->idle));
}

/*
 * "unknown" is never wrong. After a loss the fold may report crowded_out for an app that hogs: the claim is
 * weaker, but true.
 */
static bool is_cause(uint8_t cause, uint8_t truth)
{
	return cause == truth || cause == BSA_CAUSE_UNKNOWN || (cause == BSA_CROWDED_OUT && truth == BSA_HOGGED);
}

/* Does the truth have a wait like @w? */
static bool is_part(const struct collected *facts, const struct bsa_wait *w, const struct collected *truth,
                    const struct bsa_execution *is)
{
	uint64_t blocker = 0;

	for (size_t i = 0; i < facts->execution.n; i++)
		if (facts->execution.items[i].id == w->blocker)
			blocker = facts->execution.items[i].exec;
	for (size_t i = 0; i < truth->wait.n; i++) {
		const struct bsa_wait *t = &truth->wait.items[i];

		if (t->execution == is->id && t->began == w->began && t->ended == w->ended && t->kind == w->kind &&
		    t->lane == w->lane && t->occupancy == w->occupancy && is_cause(w->cause, t->cause) &&
		    (!t->blocker || truth->execution.items[t->blocker - 1].exec == blocker))
			return true;
	}
	return w->occupancy == BSA_IDLE && is->idle && is->at[BSA_ENQUEUED] == w->began &&
	       w->ended == w->began + is->queue;
}

/* The wait of @is at @at, as text. */
static const char *true_wait(const struct collected *truth, const struct bsa_execution *is, uint64_t at)
{
	static char text[120];

	snprintf(text, sizeof(text), "none");
	for (size_t i = 0; i < truth->wait.n; i++) {
		const struct bsa_wait *t = &truth->wait.items[i];

		if (t->execution == is->id && t->began <= at && at < t->ended)
			snprintf(text, sizeof(text), "from %" PRIu64 " to %" PRIu64 ", lane %u, occupancy %u, cause %u",
			         t->began, t->ended, t->lane, t->occupancy, t->cause);
	}
	return text;
}

static void check_waits(const struct bsa_execution *x, const struct bsa_execution *is, const struct collected *facts,
                        const struct collected *truth)
{
	for (size_t i = 0; i < facts->wait.n; i++) {
		const struct bsa_wait *w = &facts->wait.items[i];

		if (w->execution != x->id)
			continue;
		all_waits++;
		unknown_waits += w->occupancy == BSA_UNKNOWN || w->cause == BSA_CAUSE_UNKNOWN;
		if (w->occupancy != BSA_UNKNOWN)
			CHECK(COMPLETE_IS_TRUE, WAITS, is_part(facts, w, truth, is),
			      OF_EXEC("from %" PRIu64 " to %" PRIu64
			              " it waits for lane %u, occupancy %u, cause %u; the truth: %s",
			              w->began, w->ended, w->lane, w->occupancy, w->cause,
			              true_wait(truth, is, w->began)));
	}
}

/* Does @is wait in the truth for all the time of @w, for the same holder or an idle lane? */
static bool is_within(const struct collected *facts, const struct bsa_wait *w, const struct collected *truth,
                      const struct bsa_execution *is)
{
	uint64_t blocker = 0;

	for (size_t i = 0; i < facts->execution.n; i++)
		if (facts->execution.items[i].id == w->blocker)
			blocker = facts->execution.items[i].exec;
	for (size_t i = 0; i < truth->wait.n; i++) {
		const struct bsa_wait *t = &truth->wait.items[i];

		if (t->execution == is->id && t->began <= w->began && t->ended >= w->ended && t->kind == w->kind &&
		    t->occupancy == w->occupancy &&
		    (!t->blocker || truth->execution.items[t->blocker - 1].exec == blocker))
			return true;
	}
	return w->occupancy == BSA_IDLE && is->idle && is->at[BSA_ENQUEUED] <= w->began &&
	       w->ended <= is->at[BSA_ENQUEUED] + is->queue;
}

static const struct bsa_execution *true_execution(const struct truth_world *w, uint64_t exec)
{
	for (uint32_t i = 0; i < w->s->n_execs; i++)
		if (w->s->execs[i].exec == exec)
			return &w->facts.execution.items[i];
	return NULL;
}

static void check_executions(const struct judged *j, const struct truth_world *w)
{
	for (size_t i = 0; i < j->facts.execution.n; i++) {
		const struct bsa_execution *x = &j->facts.execution.items[i], *is = true_execution(w, x->exec);

		if (x->quality != BSA_QUALITY_COMPLETE)
			continue;
		check_boundaries(x, is);
		check_end(x, is);
		check_waits(x, is, &j->facts, &w->facts);
	}
}

/* Waits of complete and incomplete executions; waits of an unknown lane are not compared. */
static void check_reported_waits(const struct judged *j, const struct truth_world *w)
{
	for (size_t i = 0; i < j->facts.wait.n; i++) {
		const struct bsa_wait *v = &j->facts.wait.items[i];
		const struct bsa_execution *is = NULL;
		uint64_t exec = 0;

		for (size_t k = 0; k < j->facts.execution.n && !exec; k++)
			if (j->facts.execution.items[k].id == v->execution)
				exec = j->facts.execution.items[k].exec;
		is = true_execution(w, exec);
		if (v->occupancy != BSA_UNKNOWN && v->began < v->ended)
			CHECK(WAITS_ARE_TRUE, WAITS, is && is_within(&j->facts, v, &w->facts, is),
			      "exec %#" PRIx64 ": from %" PRIu64 " to %" PRIu64
			      " it waits for lane %u, occupancy %u, open %u; the truth: %s",
			      exec, v->began, v->ended, v->lane, v->occupancy, v->open,
			      is ? true_wait(&w->facts, is, v->began) : "no such execution");
	}
}

/* A count is NULL, or a lower bound. */
static void check_counts(const struct judged *j, const struct truth_world *w)
{
	for (size_t i = 0; i < j->n_counts; i++) {
		const struct judged_counts *n = &j->counts[i];
		const struct bsa_execution *is = true_execution(w, n->exec);

#define AT_MOST(what, most)                                            \
	CHECK(COUNTS_ARE_TRUE, BOUNDARIES, n->what <= (int64_t)(most), \
	      "exec %#" PRIx64 ": %s are %" PRId64 ", and were %" PRIu64, n->exec, #what, n->what, (uint64_t)(most))
		AT_MOST(preemptions, is->preemptions);
		AT_MOST(bypassed, is->bypassed);
		AT_MOST(lookups, is->lookups);
		AT_MOST(misses, is->misses);
#undef AT_MOST
	}
}

/* ---- rules about groups ---- */

static unsigned group_told[CUT_KINDS][3];

/* Is all of the world to be judged, or what --from and --to ask for? */
static bool judges_groups(enum cut_kind kind)
{
	return kind != CUT_LATE && kind != CUT_EARLY && kind != CUT_LATE_SERVICE && kind != CUT_EARLY_SERVICE;
}

/* Draw rules, judge the recording @c by them, too, and compare with the truth. */
static void judge_with_groups(struct judged *ret, const struct truth_world *w, const struct cut *c, uint64_t horizon,
                              uint64_t *series)
{
	struct group_truth truth[GROUP_RULES];
	struct bsa_err err = { "" };
	struct bsv_slo slo = { NULL, 0 };
	char text[GROUP_RULES * (sizeof(truth->text) + 1)];
	size_t at = 0;

	group_truth_draw(truth, w, c, series);
	for (size_t i = 0; i < GROUP_RULES; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s\n", truth[i].text);
	if (bsv_slo_parse(&slo, text, at, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	judged_make(ret, c, horizon, path, judges_groups(now.kind) ? &slo : NULL);
	for (size_t i = 0; ret->slo && i < GROUP_RULES; i++) {
		const struct bsv_slo_result *r = &ret->slo[i];
		unsigned rule = group_rule(slo.rules[i].kind);

		if (now.loud)
			printf("%s: %s (%s); the truth:%s%s, %u executions\n", truth[i].text, bsv_slo_word(r->outcome),
			       r->why, truth[i].broken ? " broken" : "", truth[i].kept ? " kept" : "", truth[i].n);
		if (truth[i].broken)
			CHECK(GROUP_NO_FALSE_PASS, rule, r->outcome != BSV_PASS, "%s: %s", truth[i].text, r->why);
		if (truth[i].kept)
			CHECK(GROUP_NO_FALSE_FAIL, rule, r->outcome != BSV_FAIL, "%s: %s", truth[i].text, r->why);
		group_told[now.kind][r->outcome]++;
	}
	bsv_slo_fini(&slo);
}

/* ---- one world ---- */

static struct sim_terms terms_of(uint64_t seed, uint64_t *series)
{
	static const uint64_t late[] = { 0, 100000, 5000000 };

	static const uint32_t slow[] = { 0, 5, 25, 25 }, executions[] = { 30, 100, 100, 200 };

	return (struct sim_terms){ .seed = seed,
		                   .executions = 5 + (uint32_t)sim_random(series, executions[sim_random(series, 4)]),
		                   .slow = slow[sim_random(series, 4)],
		                   .summaries_late_ns = late[sim_random(series, 3)],
		                   .no_ends = sim_random(series, 2) };
}

static void show(const struct truth_world *w, const struct cut *c, const struct judged *j,
                 const struct truth_verdict *truth);

/* A violation that a hole may hide. False: the truth has no violation. */
static bool some_violation(const struct truth_verdict *truth, uint64_t seed, struct cut_target *ret)
{
	for (unsigned i = 0; i < TRUTH_RULES; i++) {
		const struct truth_verdict *t = &truth[(seed + i) % TRUTH_RULES];

		if (t->broken && t->from) {
			*ret = (struct cut_target){ t->from, t->until };
			return true;
		}
	}
	return false;
}

static void play_cut(const struct truth_world *w, struct sim *s, enum cut_kind kind, uint64_t series, uint64_t horizon,
                     const struct judged *whole, const struct truth_verdict *whole_truth)
{
	struct cut_target target;
	bool aims = some_violation(whole_truth, now.seed, &target);
	struct truth_verdict truth[TRUTH_RULES];
	struct judged j, without;
	struct cut c, none;

	now.kind = kind;
	if (!cut_make(&c, s, kind, now.forms, aims ? &target : NULL, &series))
		return;
	now.n_events = c.n_events;
	judge_with_groups(&j, w, &c, horizon, &series);
	truth_judge(truth, w, &c, horizon);
	if (now.loud)
		show(w, &c, &j, truth);
	check_verdicts(&j, truth);
	if (kind != CUT_KIND) { /* the events that there are tell of waits which only the others disprove */
		check_executions(&j, w);
		check_reported_waits(&j, w);
		check_counts(&j, w);
	}
	if (kind == CUT_AFTER || kind == CUT_SERVICE)
		check_stands(&j, whole);
	if (kind == CUT_OUTSIDE && now.forms == SIM_FULL && !cut_touches(&c, 0, s->execs[0].at[BSA_SUBMITTED])) {
		uint64_t from = c.asked_from, until = c.asked_until;

		cut_free(&c, s);
		cut_make(&none, s, CUT_NOTHING, now.forms, NULL, &series);
		none.asked_from = from;
		none.asked_until = until;
		judged_make(&without, &none, horizon, path, NULL);
		check_stands(&j, &without);
		judged_free(&without);
		cut_free(&none, s);
	}
	judged_free(&j);
	cut_free(&c, s);
}

static bool merciless;
static int only_variant = -1;

/*
 * A database takes milliseconds, so each world plays CUT_ONE_HOLE and CUT_WORST, and the other variants by
 * turns.
 */
static bool is_played(uint64_t seed, int kind)
{
	return merciless || kind == CUT_ONE_HOLE || kind == CUT_WORST || (seed / 3 + (uint64_t)kind) % ROTATION == 0;
}

static void play_world(uint64_t seed, int only, bool loud)
{
	static const unsigned forms[] = { SIM_FULL, SIM_COMPACT, SIM_RARE };
	uint64_t series = seed, horizon = 100000 * MS;
	struct sim_terms terms = terms_of(seed, &series);
	struct truth_verdict truth[TRUTH_RULES];
	struct truth_world w;
	struct judged whole;
	struct cut c;
	struct sim s;

	now = (struct playing){ .seed = seed, .forms = forms[seed % 3] };
	sim_play(&s, &terms);
	group_names_give(&s); /* the database groups runs by the model's name */
	truth_world_make(&w, &s);
	if (!w.native) {
		cut_make(&c, &s, CUT_NOTHING, now.forms, NULL, &series);
		now.n_events = c.n_events;
		judge_with_groups(&whole, &w, &c, horizon, &series);
		horizon = whole.latest_summary + CLIENTS_LATE;
		truth_judge(truth, &w, &c, horizon);
		now.loud = loud && only == CUT_NOTHING;
		if (now.loud)
			show(&w, &c, &whole, truth);
		if (only < 0 || only == CUT_NOTHING) {
			check_verdicts(&whole, truth);
			check_executions(&whole, &w);
			check_reported_waits(&whole, &w);
			check_counts(&whole, &w);
		}
		for (unsigned i = 0; i < TRUTH_RULES; i++)
			truths[i][truth[i].unsure ? 2 : truth[i].broken ? 0 : truth[i].nothing ? 2 : 1]++;
		cut_free(&c, &s);
		now.loud = loud;
		for (int kind = CUT_NOTHING + 1; kind < CUT_KINDS; kind++)
			if (only == kind || (only < 0 && is_played(seed, kind)))
				play_cut(&w, &s, (enum cut_kind)kind, seed * 100 + (uint64_t)kind, horizon, &whole,
				         truth);
		judged_free(&whole);
	}
	truth_world_fini(&w);
	sim_free(&s);
}

/* ---- a world, printed ---- */

static uint64_t exec_of(const struct collected *facts, uint64_t id)
{
	for (size_t i = 0; i < facts->execution.n; i++)
		if (facts->execution.items[i].id == id)
			return facts->execution.items[i].exec;
	return 0;
}

static void show_inversions(const struct sim *s, const struct collected *facts, const char *who)
{
	for (size_t i = 0; i < facts->inverted.n; i++) {
		const struct bsa_inverted *v = &facts->inverted.items[i];

		printf("%s: exec %#" PRIx64 " waits for exec %#" PRIx64 " on lane %u from %" PRIu64 " for %" PRIu64
		       "\n",
		       who, exec_of(facts, v->victim), exec_of(facts, v->holder), v->lane, v->began - s->began, v->dur);
	}
}

static void show(const struct truth_world *w, const struct cut *c, const struct judged *j,
                 const struct truth_verdict *truth)
{
	const struct sim *s = w->s;

	printf("seed %" PRIu64 ", %s, %s events; times are since the world began at %" PRIu64 "\n", now.seed,
	       cut_name(now.kind), forms_name(now.forms), s->began);
#define SINCE(at) ((at) == NEVER ? -1 : (int64_t)((at)-s->began))
	for (uint32_t i = 0; i < s->n_services; i++)
		printf("service %u: %u lanes\n", s->services[i].instance, s->services[i].lanes);
	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].event.kind == BSA_service_state)
			printf("  policy %u, preempt mode %u\n", s->events[i].of.service_state.policy,
			       s->events[i].of.service_state.preempt_mode);
	for (uint32_t i = 0; i < s->n_models; i++)
		printf("model %#x of app %u: priority %u, step %" PRIu64 "\n", s->models[i].number,
		       s->apps[s->models[i].app].key, s->models[i].priority, s->models[i].step_ns);
	printf("recorded from %" PRId64 " to %" PRId64 ", asked for from %" PRId64 " to %" PRId64 "\n",
	       c->from ? SINCE(c->from) : 0, SINCE(c->until), c->asked_from ? SINCE(c->asked_from) : 0,
	       SINCE(c->asked_until));
	for (size_t i = 0; i < c->n_holes; i++)
		printf("hole from %" PRId64 " to %" PRId64 ": %" PRIu64 " and %" PRIu64 " events\n",
		       SINCE(c->holes[i].from), SINCE(c->holes[i].until), c->holes[i].events[0], c->holes[i].events[1]);
	for (uint32_t i = 0; i < s->n_execs; i++) {
		const struct sim_exec *x = &s->execs[i];
		const struct bsa_execution *f = collect_execution(&j->facts, x->exec);

		printf("exec %#" PRIx64 " app %u model %#x priority %u: submitted %" PRId64 " ready %" PRId64
		       " dispatched %" PRId64 " ended %" PRId64 " over %" PRId64
		       " status %u preempted %u; fold: quality %d sides %d "
		       "ready %" PRId64 " dispatched %" PRId64 " ended %" PRId64 "\n",
		       x->exec, s->apps[x->app].key, s->models[x->model].number, x->priority,
		       SINCE(x->at[BSA_SUBMITTED]), SINCE(x->at[BSA_ENQUEUED]), SINCE(x->at[BSA_DISPATCHED]),
		       SINCE(x->at[BSA_RUN_ENDED]), SINCE(x->over_at), x->status, x->preemptions, f ? f->quality : -1,
		       f ? f->sides : -1, SINCE(f ? f->at[BSA_ENQUEUED] : NEVER),
		       SINCE(f ? f->at[BSA_DISPATCHED] : NEVER), SINCE(f ? f->at[BSA_RUN_ENDED] : NEVER));
	}
	for (size_t i = 0; i < s->n_slices; i++)
		printf("slice of %#" PRIx64 " on lane %u from %" PRId64 " to %" PRId64 "\n",
		       s->execs[s->slices[i].exec].exec, s->slices[i].lane, SINCE(s->slices[i].began),
		       SINCE(s->slices[i].ended));
	show_inversions(s, &j->facts, "fold");
	show_inversions(s, &w->facts, "truth");
	for (size_t i = 0; i < j->facts.share.n; i++)
		printf("fold: app id %u received %" PRIu64 " entitled %" PRIu64 " lag %" PRId64 " at %" PRId64
		       ", at most %" PRId64 "\n",
		       j->facts.share.items[i].app, j->facts.share.items[i].received, j->facts.share.items[i].entitled,
		       j->facts.share.items[i].max_lag, SINCE(j->facts.share.items[i].max_lag_at),
		       j->facts.share.items[i].most_lag);
	for (size_t i = 0; i < j->facts.possible_wait.n; i++) {
		const struct bsa_possible_wait *p = &j->facts.possible_wait.items[i];

		printf("fold: exec %#" PRIx64 " of app id %u may have waited from %" PRId64 " to %" PRId64 "\n",
		       exec_of(&j->facts, p->execution), p->app, SINCE(p->began), SINCE(p->ended));
	}
	for (size_t i = 0; i < j->facts.unknown_lane.n; i++)
		printf("fold: lane %u is unknown from %" PRId64 " to %" PRId64 "\n",
		       j->facts.unknown_lane.items[i].lane, SINCE(j->facts.unknown_lane.items[i].began),
		       SINCE(j->facts.unknown_lane.items[i].ended));
	for (unsigned i = 0; i < TRUTH_RULES; i++)
		printf("%s: %s, figure %.0f, bound %.0f (%s); the truth:%s%s%s%s figure %.0f, bound %.0f, %s, from "
		       "%" PRId64 " to %" PRId64 "\n",
		       rule_names[i], bsv_outcome_name(j->rules[i].outcome), j->rules[i].figure, j->rules[i].bound,
		       j->rules[i].why, truth[i].broken ? " broken" : "", truth[i].kept ? " kept" : "",
		       truth[i].shown ? " shown" : "", truth[i].nothing ? " nothing to judge" : "", truth[i].figure,
		       truth[i].bound, truth[i].what, SINCE(truth[i].from), SINCE(truth[i].until));
#undef SINCE
}

/* ---- all worlds ---- */

/* Worlds that once led to a false result. */
static const struct {
	uint64_t seed;
	enum cut_kind kind;
} once_wrong[] = {
	{ 740, CUT_UNCOUNTED },     /* the answer to a launch was taken for the end of the run */
	{ 235, CUT_EARLY },         /* the last summary of a service came long before the recording ended */
	{ 93, CUT_HOLES },          /* an app whose lag counts from before an empty queue was blamed for hogging */
	{ 37, CUT_EARLY_SERVICE },  /* an execution without a summary has a share, too */
	{ 868, CUT_EARLY_SERVICE }, /* the client reports the end of an execution whose summary the service
	                             * never sent */
	{ 618, CUT_NOTHING },       /* the service announced other rules for deadlines than it applied */
	{ 668, CUT_OUTSIDE },       /* ideal sharing with a step that was not recorded */
};

static void play_all(void)
{
	const char *soak = getenv("NNB_SOAK_SECONDS"), *seeds = getenv("NNB_SEEDS");
	time_t stop = soak && atoi(soak) > 0 ? time(NULL) + atoi(soak) : 0;
	const char *first = getenv("NNB_FIRST");
	uint64_t most = seeds ? strtoull(seeds, NULL, 0) : SEEDS, seed = first ? strtoull(first, NULL, 0) - 1 : 0;

	do
		play_world(++seed, only_variant, false);
	while (seed < most || (stop && time(NULL) < stop)); /* fewer worlds may have nothing to check for a property */
	for (size_t i = 0; i < sizeof(once_wrong) / sizeof(*once_wrong) && only_variant < 0; i++)
		play_world(once_wrong[i].seed, once_wrong[i].kind, false);
	print_message("worlds to %" PRIu64 "\n", seed);
}

/* ---- the results ---- */

enum { FAIRNESS = 1, STARVATION = 2, INVERSION = 4, HONOURED = 8 };

#define V(kind) (1U << CUT_##kind)
#define HOLES \
	(V(ONE_HOLE) | V(HOLES) | V(HEADS) | V(UNCOUNTED) | V(ONE_CPU) | V(EDGES) | V(WORST) | V(OUTSIDE) | V(STOP))

/* Defects of today's analyzer and viewer. @variants and @rules are sets of bits. A fix deletes its row. */
static const struct known {
	enum property property;
	unsigned variants, rules;
	const char *why;
} known[] = {
	/* clang-format off */
	{ SHOWN_FAILS, HOLES, FAIRNESS | STARVATION, "a hole may hide more apps, longer runs, or other medians than there were, and with them the limit is larger" },
	{ SHOWN_FAILS, V(LATE_SERVICE), FAIRNESS, "a client refers to a model that was released before the service was recorded" },
	{ SHOWN_FAILS, V(AFTER), FAIRNESS, "see STANDS" },
	{ STANDS, V(AFTER) | V(OUTSIDE), ~0U, "a summary that was lost may have told of waits and lanes long before its hole" },
	/* clang-format on */
};

static bool is_known(enum property p, enum cut_kind kind, unsigned rule)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !merciless; i++)
		if (known[i].property == p && known[i].variants >> kind & 1 && known[i].rules >> rule & 1)
			return true;
	return false;
}

static void print_examples(const struct score *s)
{
	for (int i = 0; i < EXAMPLES && s->examples[i].seed; i++)
		print_message("    %s\n", s->examples[i].text);
}

/* Fail if a check failed that is not in known[]. */
static void judge_property(enum property p)
{
	unsigned checks = 0, unknown = 0;

	print_message("%s?\n", property_names[p]);
	for (unsigned k = 0; k < CUT_KINDS; k++)
		for (unsigned r = 0; r < TRUTH_RULES; r++) {
			const struct score *s = &scores[p][k][r];
			bool spared = is_known(p, (enum cut_kind)k, r);

			checks += s->checks;
			if (!s->wrong)
				continue;
			print_message("  %-32s %-12s %u of %u%s\n", cut_name((enum cut_kind)k), part_name(p, r),
			              s->wrong, s->checks, spared ? ", known" : "");
			if (!spared)
				print_examples(s);
			unknown += spared ? 0 : s->wrong;
		}
	print_message("  %u checks\n", checks);
	assert_true(checks);
	if (unknown)
		fail_msg("%u times: %s", unknown, property_names[p]);
}

static void pass_means_that_the_rule_was_kept(void **state)
{
	(void)state;
	judge_property(NO_FALSE_PASS);
}

static void fail_means_that_the_rule_was_broken(void **state)
{
	(void)state;
	judge_property(NO_FALSE_FAIL);
}

static void without_a_hole_the_verdict_equals_the_truth(void **state)
{
	(void)state;
	judge_property(EQUALS_TRUTH);
}

static void a_complete_execution_equals_the_truth(void **state)
{
	(void)state;
	judge_property(COMPLETE_IS_TRUE);
	print_message("  %u of %u waits of complete executions have an unknown occupant or cause\n", unknown_waits,
	              all_waits);
}

static void a_count_never_exceeds_the_truth(void **state)
{
	(void)state;
	judge_property(COUNTS_ARE_TRUE);
}

static void a_reported_wait_happened(void **state)
{
	(void)state;
	judge_property(WAITS_ARE_TRUE);
}

static void a_violation_outside_holes_fails(void **state)
{
	(void)state;
	judge_property(SHOWN_FAILS);
}

static void a_hole_outside_the_judged_time_changes_no_verdict(void **state)
{
	(void)state;
	judge_property(STANDS);
}

static void check_passes_a_rule_about_a_group_if_it_was_kept(void **state)
{
	(void)state;
	judge_property(GROUP_NO_FALSE_PASS);
}

static void check_fails_a_rule_about_a_group_if_it_was_broken(void **state)
{
	(void)state;
	judge_property(GROUP_NO_FALSE_FAIL);
	for (unsigned k = 0; k < CUT_KINDS; k++)
		print_message("  %-32s %u pass, %u fail, %u inconclusive\n", cut_name((enum cut_kind)k),
		              group_told[k][BSV_PASS], group_told[k][BSV_FAIL], group_told[k][BSV_CANNOT_TELL]);
}

static void print_shares(void)
{
	print_message("%-32s %12s %12s %12s %12s %12s\n", "cannot tell, of decidable", rule_names[0], rule_names[1],
	              rule_names[2], rule_names[3], rule_names[4]);
	for (unsigned k = 0; k < CUT_KINDS; k++) {
		print_message("%-32s", cut_name((enum cut_kind)k));
		for (unsigned r = 0; r < TRUTH_RULES; r++)
			print_message(" %10.1f %%", tellable[k][r] ? 100.0 * untold[k][r] / tellable[k][r] : 0);
		print_message("\n");
	}
	for (unsigned r = 0; r < TRUTH_RULES; r++)
		print_message("the truth about %s: %u broken, %u kept, %u nothing to judge\n", rule_names[r],
		              truths[r][0], truths[r][1], truths[r][2]);
}

/* Every rule must be broken in some worlds and kept in others: otherwise the other tests prove nothing. */
static void a_small_hole_leaves_most_verdicts(void **state)
{
	unsigned all = 0, un = 0;

	(void)state;
	print_shares();
	for (unsigned r = 0; r < TRUTH_RULES; r++) {
		if (r != TRUTH_SHARING) { /* no recording with a hole decides these */
			all += tellable[CUT_ONE_HOLE][r];
			un += untold[CUT_ONE_HOLE][r];
		}
		assert_true(SEEDS < 60 || (truths[r][0] && truths[r][1])); /* a few worlds do not have every outcome */
	}
	print_message("cannot tell with one hole of 1 %%: %u of %u, limit %d %%\n", un, all, CANNOT_TELL_MOST);
	assert_true(SEEDS < 60 || 100 * un <= CANNOT_TELL_MOST * all);
}

static int set_up(void **state)
{
	(void)state;
	play_all();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pass_means_that_the_rule_was_kept),
		cmocka_unit_test(fail_means_that_the_rule_was_broken),
		cmocka_unit_test(without_a_hole_the_verdict_equals_the_truth),
		cmocka_unit_test(a_complete_execution_equals_the_truth),
		cmocka_unit_test(a_count_never_exceeds_the_truth),
		cmocka_unit_test(a_reported_wait_happened),
		cmocka_unit_test(a_violation_outside_holes_fails),
		cmocka_unit_test(a_hole_outside_the_judged_time_changes_no_verdict),
		cmocka_unit_test(check_passes_a_rule_about_a_group_if_it_was_kept),
		cmocka_unit_test(check_fails_a_rule_about_a_group_if_it_was_broken),
		cmocka_unit_test(a_small_hole_leaves_most_verdicts),
	};
	char dir[] = "/tmp/test_verdict_oracle.XXXXXX";
	int failed = 0;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/x.db", dir);
	mallopt(M_TRIM_THRESHOLD, 64 << 20); /* each database gets the same memory again */
	mallopt(M_MMAP_THRESHOLD, 64 << 20);
	mallopt(M_MXFAST,
	        0); /* SQLite frees much of each statement that it prepares; without the merging of freed blocks
	             * a fifth of the time is saved */
	merciless = argc >= 2 && !strcmp(argv[1], "all");
	if (merciless && argc == 3)
		only_variant = atoi(argv[2]);
	if (argc == 3 && !merciless)
		play_world(strtoull(argv[1], NULL, 0), atoi(argv[2]), true);
	else
		failed = cmocka_run_group_tests(tests, set_up, NULL);
	rmdir(dir);
	return failed;
}
