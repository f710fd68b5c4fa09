/* schedule_facts.c -- the facts that a schedule reports, each as a line of text. */
#include "unit/schedule_facts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const causes[BSA_CAUSES] = {
	[BSA_QUEUED_BEHIND] = "queued_behind", [BSA_INVERSION] = "inversion",
	[BSA_CROWDED_OUT] = "crowded_out",     [BSA_HOGGED] = "hogged",
	[BSA_HANDOVER] = "handover",           [BSA_CAUSE_PREEMPTED] = "preempted",
	[BSA_CAUSE_UNKNOWN] = "unknown",
};

static const char *cause(uint8_t number)
{
	assert(number < BSA_CAUSES && causes[number]);
	return causes[number];
}

void lines_fini(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->all[i]);
	free(l->all);
	free(l->windows.items);
	*l = (struct lines){ 0 };
}

void lines_add(struct lines *l, const char *format, ...)
{
	va_list args;
	int n;

	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 16;
		l->all = realloc(l->all, l->room * sizeof(*l->all));
		assert(l->all);
	}
	va_start(args, format);
	n = vasprintf(&l->all[l->n], format, args);
	va_end(args);
	assert(n >= 0);
	l->n++;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void lines_sort(struct lines *l)
{
	if (l->n)
		qsort(l->all, l->n, sizeof(*l->all), by_text);
}

void line_slice(void *ctx, const struct bsa_slice *s)
{
	lines_add(ctx, "slice %" PRIu64 ": %" PRIu64 "-%" PRIu64 " lane %u of %u", s->execution, s->began, s->ended,
	          s->lane, s->instance);
}

void line_wait(void *ctx, const struct bsa_wait *w)
{
	lines_add(ctx, "wait %" PRIu64 ": %" PRIu64 "-%" PRIu64 " lane %u %s %s%s by %" PRIu64 " of app %u",
	          w->execution, w->began, w->ended, w->lane, w->kind == BSA_WAIT_QUEUE ? "queue" : "preempted",
	          w->occupancy == BSA_HELD   ? "held "
	          : w->occupancy == BSA_IDLE ? "idle "
	                                     : "",
	          cause(w->cause), w->blocker, w->blocker_app);
}

void line_possible_wait(void *ctx, const struct bsa_possible_wait *w)
{
	lines_add(ctx, "possible %" PRIu64 ": %" PRId64 "-%" PRIu64, w->execution, (int64_t)w->began, w->ended);
}

void line_unknown_lane(void *ctx, const struct bsa_unknown_lane *l)
{
	lines_add(ctx, "unknown lane %u: %" PRId64 "-%" PRIu64, l->lane, (int64_t)l->began, l->ended);
}

void line_inverted(void *ctx, const struct bsa_inverted *i)
{
	lines_add(ctx, "inverted %" PRIu64 " by %" PRIu64 ": %" PRIu64 " for %" PRIu64 " lane %u", i->victim, i->holder,
	          i->began, i->dur, i->lane);
}

void line_starved(void *ctx, const struct bsa_starved *s)
{
	lines_add(ctx,
	          "starved %" PRIu64 " of app %u: %" PRIu64 " for %" PRIu64 ", app %u %" PRIu64
	          ", bypassed %u, model %u",
	          s->execution, s->app, s->began, s->gap, s->top_culprit_app, s->top_culprit_ns, s->bypassed, s->model);
}

void line_share(void *ctx, const struct bsa_share *s)
{
	lines_add(ctx, "share app %u: %" PRIu64 " of %" PRIu64 ", lag %" PRId64 " at %" PRId64, s->app, s->received,
	          s->entitled, s->max_lag, (int64_t)s->max_lag_at);
}

void line_lag(void *ctx, const struct bsa_lag *s)
{
	lines_add(ctx, "lag app %u: %" PRIu64 ": %" PRIu64 " of %" PRIu64 ", %" PRId64, s->app, s->window_began,
	          s->received, s->entitled, s->lag);
}

static void keep_lag_window(void *ctx, const struct bsa_lag_window *w)
{
	lag_windows_add(&((struct lines *)ctx)->windows, w);
}

static void line_lags(void *ctx, const struct bsa_lag *lag)
{
	lag_windows_each(&((struct lines *)ctx)->windows, lag, line_lag, ctx);
}

void line_interfered(void *ctx, const struct bsa_interfered *i)
{
	lines_add(ctx, "interfered app %u with app %u: %" PRIu64, i->by, i->app, i->ns);
}

void line_chosen(void *ctx, const struct bsa_chosen *c)
{
	lines_add(ctx, "chosen %" PRIu64 " at %" PRIu64 " before %" PRIu64 "%s", c->chosen, c->at, c->passed_over,
	          c->honoured ? "" : ", wrongly");
}

void line_refused(void *ctx, const struct bsa_refused *r)
{
	lines_add(ctx, "refused %" PRIu64 ": free %" PRId64 ", %s by %" PRIu64 " of app %u", r->execution,
	          (int64_t)r->lane_free, cause(r->holder_cause), r->holder, r->holder_app);
}

struct bsa_facts lines_facts(struct lines *l)
{
	return (struct bsa_facts){
		.ctx = l,
		.slice = line_slice,
		.wait = line_wait,
		.possible_wait = line_possible_wait,
		.unknown_lane = line_unknown_lane,
		.inverted = line_inverted,
		.starved = line_starved,
		.share = line_share,
		.lag = line_lags,
		.lag_window = keep_lag_window,
		.interfered = line_interfered,
		.chosen = line_chosen,
		.refused = line_refused,
	};
}
