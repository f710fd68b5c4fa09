/* schedule_cut.c -- see schedule_cut.h. */
#include "analyzer/schedule_cut.h"

#include "analyzer/schedule_again.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NEVER BSA_NEVER

enum { CPUS = 2, TRIES = 50, SILENT_MAX_NS = 15000000 };

const char *cut_name(enum cut_kind kind)
{
	static const char *const names[CUT_KINDS] = {
		[CUT_NOTHING] = "nothing is lost",
		[CUT_ONE_HOLE] = "one hole of 1 %",
		[CUT_HOLES] = "several holes",
		[CUT_HEADS] = "ring heads",
		[CUT_LATE] = "late attach",
		[CUT_EARLY] = "early stop",
		[CUT_CLIENTS] = "clients alone",
		[CUT_SERVICE] = "service alone",
		[CUT_UNCOUNTED] = "stopped and started",
		[CUT_ONE_CPU] = "one cpu",
		[CUT_EDGES] = "edges of holes",
		[CUT_AFTER] = "a loss after the end",
		[CUT_WORST] = "a hole at a violation",
		[CUT_ASKED] = "--from and --to",
		[CUT_OUTSIDE] = "a hole outside --from and --to",
		[CUT_STOP] = "stopped process by process",
		[CUT_LATE_SERVICE] = "late attach, service last",
		[CUT_EARLY_SERVICE] = "early stop, service first",
		[CUT_GROUPS] = "names and priorities",
		[CUT_KIND] = "one kind of events",
	};

	return names[kind];
}

bool cut_touches(const struct cut *c, uint64_t from, uint64_t until)
{
	for (size_t i = 0; i < c->n_holes; i++)
		if (c->holes[i].from <= until && c->holes[i].until >= from)
			return true;
	return c->kind == CUT_KIND;
}

/* ---- holes ---- */

static bool is_of_client(const struct sim_event *e)
{
	switch (e->event.kind) {
	case BSA_exec_submit:
	case BSA_exec_return:
	case BSA_exec_client:
		return true;
	case BSA_fmq_write:
		return e->of.fmq_write.queue == BSA_QUEUE_REQUEST || e->of.fmq_write.queue == BSA_QUEUE_CALL_REQUEST;
	case BSA_fmq_read:
		return e->of.fmq_read.queue == BSA_QUEUE_RESULT || e->of.fmq_read.queue == BSA_QUEUE_CALL_RESULT;
	default:
		return false;
	}
}

static bool is_recorded(const struct cut *c, const struct sim_event *e)
{
	return e->forms & c->forms && !e->lost;
}

static void lose(struct cut_hole *h, struct sim_event *e)
{
	e->lost = true;
	h->events[e->cpu]++;
}

/* All events of @cpu in that time are lost; @cpu CPUS: of all. False: no event is of that time, so nothing is lost. */
static bool lose_between(struct cut *c, struct sim *s, uint64_t from, uint64_t until, unsigned cpu)
{
	struct cut_hole *h = &c->holes[c->n_holes];

	assert(c->n_holes < CUT_HOLES_MAX);
	*h = (struct cut_hole){ .from = from, .until = until };
	for (size_t i = 0; i < s->n_events; i++) {
		struct sim_event *e = &s->events[i];

		if (is_recorded(c, e) && e->event.at >= from && e->event.at <= until && (cpu == CPUS || e->cpu == cpu))
			lose(h, e);
	}
	if (!h->events[0] && !h->events[1])
		return false;
	c->n_holes++;
	return true;
}

static uint64_t length_of(const struct sim *s)
{
	return s->ended - s->began;
}

/* A hole of @length somewhere, which lost at least one event. */
static bool lose_somewhere(struct cut *c, struct sim *s, uint64_t length, unsigned cpu, uint64_t *series)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t from = s->began + sim_random(series, length_of(s) - length + 1);

		if (lose_between(c, s, from, from + length, cpu))
			return true;
	}
	return false;
}

static uint64_t some_length(const struct sim *s, uint64_t *series)
{
	static const unsigned parts[] = { 3, 10, 30, 100, 1000, 10000 };

	return 1 + sim_random(series, length_of(s) / parts[sim_random(series, sizeof(parts) / sizeof(*parts))] + 1);
}

static bool make_holes(struct cut *c, struct sim *s, uint64_t *series)
{
	size_t n = 2 + sim_random(series, 4);

	for (size_t i = 0; i < n; i++)
		lose_somewhere(c, s, some_length(s, series), CPUS, series);
	return c->n_holes > 0;
}

/* The nth recorded event of the world. */
static uint64_t time_of_nth(const struct cut *c, const struct sim *s, size_t n)
{
	for (size_t i = 0; i < s->n_events; i++)
		if (is_recorded(c, &s->events[i]) && !n--)
			return s->events[i].event.at;
	return s->ended;
}

static size_t n_recorded(const struct cut *c, const struct sim *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_events; i++)
		n += is_recorded(c, &s->events[i]);
	return n;
}

/* From one event's time to another's. Events at the edges themselves are lost or not, by chance. */
static void lose_to_the_edges(struct cut *c, struct sim *s, uint64_t from, uint64_t until, uint64_t *series)
{
	struct cut_hole *h = &c->holes[c->n_holes];

	*h = (struct cut_hole){ .from = from, .until = until };
	for (size_t i = 0; i < s->n_events; i++) {
		struct sim_event *e = &s->events[i];
		bool edge = e->event.at == from || e->event.at == until;

		if (is_recorded(c, e) && e->event.at >= from && e->event.at <= until &&
		    (!edge || sim_random(series, 2)))
			lose(h, e);
	}
	c->n_holes += h->events[0] || h->events[1];
}

static bool make_edges(struct cut *c, struct sim *s, uint64_t *series)
{
	size_t n = n_recorded(c, s), first = sim_random(series, n), second = first + 1 + sim_random(series, 12),
	       third = second + 1 + sim_random(series, 12);
	uint64_t a = time_of_nth(c, s, first), b = time_of_nth(c, s, second), d = time_of_nth(c, s, third);

	if (third >= n)
		return false;
	lose_to_the_edges(c, s, a, b, series);
	lose_to_the_edges(c, s, b, d, series);
	return c->n_holes > 0;
}

/* How long a service is not recorded though its clients are: where summaries report it, for less than any horizon. */
static uint64_t silent_for(const struct cut *c, const struct sim *s, uint64_t *series)
{
	uint64_t ns = some_length(s, series);

	return c->forms == SIM_FULL || ns < SILENT_MAX_NS ? ns : SILENT_MAX_NS;
}

/* The service takes a request, or has taken it since @after, or a client connects or leaves. */
static bool is_news(const struct sim_event *e, uint64_t after)
{
	switch (e->event.kind) {
	case BSA_client_connect:
	case BSA_client_disconnect:
		return true;
	case BSA_fmq_read:
		return !is_of_client(e);
	case BSA_exec_service:
		return e->of.exec_service.began != NEVER && e->of.exec_service.began >= after;
	default:
		return false;
	}
}

/*
 * When the service emits its state again, at @until or before: threads that have lanes emit events meanwhile, but it
 * takes no request before it has emitted it (docs/events.md, rule 5).
 */
static uint64_t told_again_at(const struct cut *c, const struct sim *s, uint64_t until)
{
	const struct cut_hole *h = &c->holes[0];

	for (size_t i = 0; i < s->n_events; i++) {
		const struct sim_event *e = &s->events[i];

		if (is_recorded(c, e) && e->event.at > h->until && e->event.at <= until && is_news(e, h->told_until))
			return e->event.at - 1;
	}
	return until;
}

/*
 * The session is stopped and started. For some time before and after that, clients are recorded, and the service is
 * not.
 */
static bool make_stop(struct cut *c, struct sim *s, uint64_t *series)
{
	uint64_t length = some_length(s, series), from = s->began + sim_random(series, length_of(s) - length + 1);
	uint64_t until = from + length, lead = silent_for(c, s, series), lag = silent_for(c, s, series);
	struct cut_hole *h = &c->holes[0];

	*h = (struct cut_hole){ .from = from > s->began + lead ? from - lead : s->began,
		                .until = until + lag,
		                .told_from = from,
		                .told_until = until };
	for (size_t i = 0; i < s->n_events; i++) {
		struct sim_event *e = &s->events[i];

		if (is_recorded(c, e) && e->event.at >= (is_of_client(e) ? from : h->from) &&
		    e->event.at <= (is_of_client(e) ? until : h->until))
			lose(h, e);
	}
	c->n_holes = 1;
	until = told_again_at(c, s, h->until + sim_random(series, 2) * sim_random(series, lag + 1));
	c->n_own += sim_tell_again(s, until, true, c->own + c->n_own);
	return h->events[0] || h->events[1];
}

/* Both heads lie in the first half; the loss that is reported reaches to the later one. */
static bool make_heads(struct cut *c, struct sim *s, uint64_t *series)
{
	uint64_t heads[CPUS], latest = 0;
	struct cut_hole *h = &c->holes[0];

	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		heads[cpu] = s->began + sim_random(series, length_of(s) / 2 + 1);
		latest = heads[cpu] > latest ? heads[cpu] : latest;
	}
	*h = (struct cut_hole){ .from = NEVER, .until = latest };
	for (size_t i = 0; i < s->n_events; i++) {
		struct sim_event *e = &s->events[i];

		if (!is_recorded(c, e))
			continue;
		if (e->event.at < heads[e->cpu])
			lose(h, e);
		else if (e->event.at < h->from)
			h->from = e->event.at;
	}
	if (h->from > latest)
		h->from = latest;
	c->n_holes = 1;
	c->from = latest;
	return h->events[0] || h->events[1];
}

/* ---- from the middle on ---- */

/* ---- what executions are grouped by ---- */

/* Some events of connections, models and streams are lost, each in a hole of its own. */
static bool make_groups(struct cut *c, struct sim *s, uint64_t *series)
{
	for (size_t i = 0; i < s->n_events && c->n_holes < CUT_HOLES_MAX; i++) {
		struct sim_event *e = &s->events[i];
		bool names = e->event.kind == BSA_client_connect || e->event.kind == BSA_model_prepare ||
		             e->event.kind == BSA_stream_open;

		if (names && is_recorded(c, e) && !sim_random(series, 3))
			lose_between(c, s, e->event.at, e->event.at, e->cpu);
	}
	return c->n_holes > 0;
}

/*
 * No event of a kind is recorded, as where a session did not enable it. Of few events it is not known that any is
 * missing.
 */
static bool make_kind(struct cut *c, struct sim *s, uint64_t *series)
{
	static const unsigned kinds[] = { BSA_model_prepare, BSA_sched_enqueue, BSA_sched_preempt,
		                          BSA_sched_resume,  BSA_exec_end,      BSA_exec_submit };
	unsigned kind = kinds[sim_random(series, sizeof(kinds) / sizeof(*kinds))], n = 0, stops = 0, runs = 0;
	bool summed = c->forms == SIM_RARE; /* then summaries tell how many stops there were, and not when */

	if (summed)
		kind = BSA_sched_preempt;

	for (size_t i = 0; i < s->n_events; i++) {
		struct sim_event *e = &s->events[i];

		if (!is_recorded(c, e))
			continue;
		stops += e->event.kind == BSA_sched_resume;
		runs += e->event.kind == BSA_sched_dispatch;
		n += e->event.kind == kind;
		e->lost = e->event.kind == kind || (summed && e->event.kind == BSA_sched_resume);
	}
	if (summed)
		return stops;
	if (kind == BSA_sched_preempt || kind == BSA_sched_resume)
		runs = stops;
	return n && runs >= 32 && c->forms == SIM_FULL;
}

/* ---- one side ---- */

static void drop_side(struct cut *c, struct sim *s, bool client)
{
	for (size_t i = 0; i < s->n_events; i++)
		if (is_recorded(c, &s->events[i]) && is_of_client(&s->events[i]) == client)
			s->events[i].lost = true;
}

/* Clients are recorded for @earlier before that, and for @later after it. */
static void drop_outside(struct cut *c, struct sim *s, uint64_t earlier, uint64_t later)
{
	for (size_t i = 0; i < s->n_events; i++) {
		struct sim_event *e = &s->events[i];
		uint64_t from = c->from, until = c->until;

		if (is_of_client(e)) {
			from = from > earlier ? from - earlier : 0;
			until = until < NEVER - later ? until + later : NEVER;
		}
		if (is_recorded(c, e) && (e->event.at < from || e->event.at > until))
			e->lost = true;
	}
}

/* The last event of the service that is recorded. */
static uint64_t service_until(const struct cut *c, const struct sim *s)
{
	uint64_t until = s->began;

	for (size_t i = 0; i < s->n_events; i++)
		if (is_recorded(c, &s->events[i]) && !is_of_client(&s->events[i]))
			until = s->events[i].event.at;
	return until;
}

/* ---- --from and --to ---- */

/* No execution is under way just after @at: then it is reported. @s->execs lie in the order of their beginnings. */
static bool is_idle_at(const struct sim *s, uint64_t at)
{
	for (size_t i = 0; i < s->n_execs; i++)
		if (s->execs[i].at[BSA_SUBMITTED] <= at && s->execs[i].over_at + 1 >= at)
			return false;
	return true;
}

/*
 * The hole lies before an idle moment, and --from is that moment; or the hole lies after it, and --to is. Executions
 * of the part that is judged begin and end in it.
 */
static bool make_outside(struct cut *c, struct sim *s, uint64_t *series)
{
	for (int i = 0; i < TRIES; i++) {
		const struct sim_exec *x = &s->execs[sim_random(series, s->n_execs)];
		uint64_t idle = x->at[BSA_SUBMITTED] - 1, room, length, from;
		bool before = sim_random(series, 2);

		if (!is_idle_at(s, idle) || idle <= s->began + 1 || idle + 1 >= s->ended)
			continue;
		room = before ? idle - 1 - s->began : s->ended - idle - 1;
		length = some_length(s, series);
		length = length > room ? room : length;
		from = (before ? s->began : idle + 1) + sim_random(series, room - length + 1);
		if (!lose_between(c, s, from, from + length, CPUS))
			continue;
		if (before)
			c->asked_from = idle;
		else
			c->asked_until = idle;
		return true;
	}
	return false;
}

static bool make_asked(struct cut *c, const struct sim *s, uint64_t *series)
{
	uint64_t a = 1 + sim_random(series, length_of(s)), b = 1 + sim_random(series, length_of(s));

	if (a == b || length_of(s) < 10)
		return false;
	if (sim_random(series, 3))
		c->asked_from = s->began + (a < b ? a : b);
	if (!c->asked_from || sim_random(series, 2))
		c->asked_until = s->began + (a < b ? b : a);
	return true;
}

/* Somewhat more than the violation, or a part of it. */
static bool make_worst(struct cut *c, struct sim *s, const struct cut_target *t, uint64_t *series)
{
	uint64_t from, until, third, beside;

	if (!t)
		return false;
	third = (t->until - t->from) / 3;
	beside = sim_random(series, length_of(s) / 100 + 1);
	from = t->from > s->began + beside ? t->from - beside : s->began;
	until = t->until + beside;
	switch (sim_random(series, 4)) {
	case 0: /* its beginning */
		until = t->from + third;
		break;
	case 1:
		from = t->from + third;
		until = t->until - third;
		break;
	case 2: /* its end */
		from = t->until - third;
		break;
	default:
		break;
	}
	return lose_between(c, s, from, until, CPUS);
}

/* ---- all of it ---- */

static bool make(struct cut *c, struct sim *s, const struct cut_target *target, uint64_t *series)
{
	uint64_t at;

	switch (c->kind) {
	case CUT_NOTHING:
		return true;
	case CUT_ONE_HOLE:
		return lose_somewhere(c, s, length_of(s) / 100, CPUS, series);
	case CUT_HOLES:
	case CUT_UNCOUNTED:
		return make_holes(c, s, series);
	case CUT_HEADS:
		return make_heads(c, s, series);
	case CUT_LATE:
	case CUT_LATE_SERVICE:
		c->from = s->began + length_of(s) / 10 + sim_random(series, length_of(s) * 8 / 10 + 1);
		drop_outside(c, s, c->kind == CUT_LATE ? 0 : silent_for(c, s, series), 0);
		c->n_own += sim_tell_again(s, c->from, true, c->own + c->n_own);
		return true;
	case CUT_EARLY:
	case CUT_EARLY_SERVICE:
		c->until = s->began + length_of(s) / 10 + sim_random(series, length_of(s) * 8 / 10 + 1);
		drop_outside(c, s, 0, c->kind == CUT_EARLY ? 0 : silent_for(c, s, series));
		return true;
	case CUT_STOP:
		return make_stop(c, s, series);
	case CUT_CLIENTS:
	case CUT_SERVICE:
		drop_side(c, s, c->kind == CUT_SERVICE);
		return true;
	case CUT_ONE_CPU:
		return lose_somewhere(c, s, some_length(s, series), (unsigned)sim_random(series, CPUS), series);
	case CUT_EDGES:
		return make_edges(c, s, series);
	case CUT_AFTER:
		at = s->events[s->n_events - 1].event.at + 1 + sim_random(series, 1000000);
		c->holes[c->n_holes++] = (struct cut_hole){ .from = at, .until = at + 1000, .events = { 1, 0 } };
		return true;
	case CUT_WORST:
		return make_worst(c, s, target, series);
	case CUT_ASKED:
		return make_asked(c, s, series);
	case CUT_OUTSIDE:
		return make_outside(c, s, series);
	case CUT_GROUPS:
		return make_groups(c, s, series);
	case CUT_KIND:
		return make_kind(c, s, series);
	case CUT_KINDS:
		break;
	}
	return false;
}

static void tell_gap(struct cut *c)
{
	const struct cut_hole *h = &c->holes[0];

	c->own[c->n_own++] = (struct sim_event){ .event = { h->told_from, 1, BSA_loss,
		                                            sizeof(struct bsa_event) + sizeof(struct bsa_loss) },
		                                 .of.loss = { .ended = h->told_until,
		                                              .events = NEVER,
		                                              .packets = NEVER,
		                                              .cpu = UINT32_MAX,
		                                              .cause = BSA_LOSS_GAP } };
}

static void tell_losses(struct cut *c)
{
	if (c->kind == CUT_STOP) {
		tell_gap(c);
		return;
	}
	for (size_t i = 0; i < c->n_holes; i++)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			const struct cut_hole *h = &c->holes[i];

			if (!h->events[cpu])
				continue;
			c->own[c->n_own++] = (struct sim_event){
				.event = { h->from, 1, BSA_loss, sizeof(struct bsa_event) + sizeof(struct bsa_loss) },
				.of.loss = { .ended = h->until,
				             .events = c->kind == CUT_UNCOUNTED ? NEVER : h->events[cpu],
				             .cpu = cpu }
			};
		}
}

/* Reports come as they were written; losses, before any event of their time. */
static int by_time(const void *one, const void *other)
{
	const struct sim_event *a = one, *b = other;

	if (a->event.at != b->event.at)
		return a->event.at < b->event.at ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void merge(struct cut *c, const struct sim *s)
{
	size_t k = 0;

	for (size_t i = 0; i < c->n_own; i++)
		c->own[i].order = (uint32_t)i;
	qsort(c->own, c->n_own, sizeof(*c->own), by_time);
	for (size_t i = 0; i < s->n_events; i++) {
		const struct sim_event *e = &s->events[i];

		if (!is_recorded(c, e))
			continue;
		for (; k < c->n_own && c->own[k].event.at <= e->event.at; k++)
			c->events[c->n_events++] = &c->own[k].event;
		c->events[c->n_events++] = &e->event;
	}
	while (k < c->n_own)
		c->events[c->n_events++] = &c->own[k++].event;
}

static bool tells_again(enum cut_kind kind)
{
	return kind == CUT_LATE || kind == CUT_LATE_SERVICE || kind == CUT_STOP;
}

bool cut_make(struct cut *ret, struct sim *s, enum cut_kind kind, unsigned forms, const struct cut_target *target,
              uint64_t *series)
{
	struct cut *c = ret;
	size_t own = 2 * CUT_HOLES_MAX + (tells_again(kind) ? s->n_events + s->n_execs : 0);

	*c = (struct cut){ .kind = kind, .forms = forms, .until = NEVER, .asked_until = NEVER };
	c->own = calloc(own, sizeof(*c->own));
	c->events = calloc(s->n_events + own, sizeof(*c->events));
	assert(c->own && c->events);
	if (!make(c, s, target, series)) {
		cut_free(c, s);
		return false;
	}
	tell_losses(c);
	merge(c, s);
	if (!c->n_events) {
		cut_free(c, s);
		return false;
	}
	c->began = c->events[0]->at;
	c->ended = c->events[c->n_events - 1]->at;
	if (kind == CUT_EARLY)
		c->until = c->ended; /* no event has how much longer it went on */
	if (kind == CUT_EARLY_SERVICE)
		c->until = service_until(c, s);
	for (size_t i = 0; i < c->n_holes; i++)
		c->ended = c->holes[i].until > c->ended ? c->holes[i].until : c->ended;
	if ((c->asked_from && (c->asked_from <= c->began || c->asked_from > c->ended)) || c->asked_until <= c->began) {
		cut_free(c, s); /* --from and --to must lie in the recording */
		return false;
	}
	return true;
}

void cut_free(struct cut *c, struct sim *s)
{
	for (size_t i = 0; i < s->n_events; i++)
		s->events[i].lost = false;
	free(c->events);
	free(c->own);
	c->events = NULL;
	c->own = NULL;
}
