/*
 * folding.c -- passes the facts of a fold to the conditions: executions to the windows of each
 * rule, starvation and inversions to those that ask for them; and counts what fired.
 */
#include "conditions/folding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conditions/sliding.h"

/*
 * The delay after which executions are known: a second with a compact recording (bsa/live.h), and
 * the time until records are written.
 */
static const uint64_t lag_ns = 1250000000;

struct held {
	struct bsv_condition condition;
	struct bsv_slo slo;
	struct bsv_sliding *sliding; /* NULL: it is no rule */
	struct bsv_folded folded;
	bool silent; /* of BSV_WATCH_SILENCE: this silence has fired */
};

/* Windows of a shorter silence are judged: executions that wait so long are reported before their windows are. */
static const uint64_t silence_ns = 1000000000;

struct bsv_folding {
	struct held of[BSV_CONDITIONS_MOST];
	size_t n;
	uint64_t until; /* everything that ended before this time is known */
};

/* ---- what is told ---- */

static void take_judged(void *ctx, const struct bsv_slid *slid)
{
	struct bsv_folded *f = &((struct held *)ctx)->folded;

	f->judged++;
	f->unseen += slid->lost;
	if (slid->lost)
		snprintf(f->lost, sizeof(f->lost), "%.*s", BSV_FOLDED_LOST - 1, slid->result.why);
	f->silent += slid->silent;
	if (!slid->lost && !slid->silent && slid->result.outcome == BSV_CANNOT_TELL) {
		f->unsure++;
		snprintf(f->why, sizeof(f->why), "%s", slid->result.why);
	}
	if (slid->result.outcome != BSV_FAIL || slid->to <= f->to)
		return;
	f->fired++;
	f->from = slid->from;
	f->to = slid->to;
}

static void take_execution(void *ctx, const struct bsa_live_execution *x)
{
	struct bsv_folding *f = ctx;

	for (size_t i = 0; i < f->n; i++)
		if (f->of[i].sliding)
			bsv_sliding_execution(f->of[i].sliding, x, f->until);
}

static void fire_at(struct held *h, uint64_t at)
{
	h->folded.fired++;
	h->folded.to = at;
}

static bool is_named(const char *wanted, const char *name)
{
	return !*wanted || !strcmp(wanted, name);
}

static void take_starved(void *ctx, const struct bsa_live_starved *s)
{
	struct bsv_folding *f = ctx;

	for (size_t i = 0; i < f->n; i++) {
		const struct bsv_condition *c = &f->of[i].condition;

		if (c->watched == BSV_WATCH_STARVATION && s->gap_ns > (uint64_t)c->longer_than &&
		    is_named(c->app, s->app) && is_named(c->model, s->model))
			fire_at(&f->of[i], s->ended);
	}
}

/* The fact does not name the app: the database of the case finds it. */
static void take_inverted(void *ctx, uint64_t ended, uint64_t dur_ns)
{
	struct bsv_folding *f = ctx;

	for (size_t i = 0; i < f->n; i++)
		if (f->of[i].condition.watched == BSV_WATCH_INVERSION &&
		    dur_ns > (uint64_t)f->of[i].condition.longer_than)
			fire_at(&f->of[i], ended);
}

static void take_lost(void *ctx, uint64_t began, uint64_t ended, const char *why)
{
	struct bsv_folding *f = ctx;

	for (size_t i = 0; i < f->n; i++) {
		struct held *h = &f->of[i];

		h->folded.losses++;
		if (!h->sliding)
			snprintf(h->folded.lost, sizeof(h->folded.lost), "%s", why);
		else
			bsv_sliding_lost(h->sliding, began, ended, why);
	}
}

/* ---- all of it ---- */

int bsv_folding_new(struct bsv_folding **ret, const struct bsv_condition *conditions, size_t n, uint64_t window_ns,
                    struct bsa_err *err)
{
	struct bsv_folding *f = calloc(1, sizeof(*f));
	int r = f ? 0 : bsa_fail(err, BSA_E_ENV, "no memory for conditions");

	for (; r >= 0 && f->n < n && f->n < BSV_CONDITIONS_MOST; f->n++) {
		struct held *h = &f->of[f->n];
		struct bsv_sliding_options options = {
			.window_ns = window_ns, .lag_ns = lag_ns, .judged = take_judged, .ctx = h
		};

		h->condition = conditions[f->n];
		if (h->condition.watched != BSV_WATCH_RULE)
			continue;
		r = bsv_condition_rule(&h->slo, &h->condition, err);
		if (r < 0)
			continue;
		options.rule = h->slo.rules;
		h->sliding = bsv_sliding_new(&options);
		if (!h->sliding)
			r = bsa_fail(err, BSA_E_ENV, "no memory for windows");
	}
	if (r < 0)
		f = bsv_folding_free(f);
	*ret = f;
	return r;
}

struct bsv_folding *bsv_folding_free(struct bsv_folding *f)
{
	for (size_t i = 0; f && i < f->n; i++) {
		bsv_sliding_free(f->of[i].sliding);
		bsv_slo_fini(&f->of[i].slo);
	}
	free(f);
	return NULL;
}

void bsv_folding_options(struct bsv_folding *f, struct bsa_live_options *ret)
{
	ret->calls_only = true;
	ret->calls = (struct bsa_live_calls){ .ctx = f,
		                              .execution = take_execution,
		                              .starved = take_starved,
		                              .inverted = take_inverted,
		                              .lost = take_lost };
	for (size_t i = 0; i < f->n; i++) {
		uint64_t longer = (uint64_t)f->of[i].condition.longer_than;

		if (f->of[i].condition.watched == BSV_WATCH_STARVATION &&
		    (!ret->starvation_ns || longer < ret->starvation_ns))
			ret->starvation_ns = longer;
	}
}

/* A silence fires once, when it has become too long. */
static void held_judge_silence(struct held *h, const struct bsa_live_state *s)
{
	bool longer = s->stalled_ns != BSA_LIVE_UNKNOWN && s->stalled_ns > (uint64_t)h->condition.longer_than;

	h->folded.judged += s->stalled_ns != BSA_LIVE_UNKNOWN;
	if (longer && !h->silent) {
		fire_at(h, s->until);
		h->folded.from = s->until - s->stalled_ns;
	}
	h->silent = longer;
}

/* Windows since the first execution that waits pass nothing while a service is silent. */
static void held_note_silence(struct held *h, const struct bsa_live_state *s)
{
	uint64_t since =
		s->awaited_ns != BSA_LIVE_UNKNOWN && s->awaited_ns > s->stalled_ns ? s->awaited_ns : s->stalled_ns;

	if (s->stalled_ns != BSA_LIVE_UNKNOWN && s->stalled_ns >= silence_ns)
		bsv_sliding_silent(h->sliding, s->until - since, s->until);
}

void bsv_folding_look(struct bsv_folding *f, const struct bsa_live *l)
{
	const struct bsa_live_state s = bsa_live_state(l);

	f->until = s.until;
	for (size_t i = 0; i < f->n; i++) {
		if (f->of[i].condition.watched == BSV_WATCH_INVERSION)
			f->of[i].folded.unsure = s.late_summaries;
		if (f->of[i].condition.watched == BSV_WATCH_SILENCE)
			held_judge_silence(&f->of[i], &s);
		if (!f->of[i].sliding)
			continue;
		held_note_silence(&f->of[i], &s);
		bsv_sliding_until(f->of[i].sliding, bsa_live_began(l), f->until);
	}
}

void bsv_folding_get(const struct bsv_folding *f, struct bsv_folded ret[BSV_CONDITIONS_MOST])
{
	memset(ret, 0, BSV_CONDITIONS_MOST * sizeof(*ret));
	for (size_t i = 0; i < f->n; i++) {
		ret[i] = f->of[i].folded;
		if (f->of[i].sliding)
			ret[i].too_late = bsv_sliding_too_late(f->of[i].sliding);
	}
}
