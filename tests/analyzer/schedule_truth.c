/* schedule_truth.c -- see schedule_truth.h. */
#include "analyzer/schedule_truth.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define NEVER UINT64_MAX
#define PARTS INT64_C(720720) /* parts of a lane: any of 1 to 16 apps has whole ones */

/* The shares that the apps of a service had at a time, and from then on. */
struct moment {
	uint64_t at;
	int32_t waiting[SIM_APPS], running[SIM_APPS];
	int64_t rate[SIM_APPS]; /* in parts */
	int64_t lag[SIM_APPS];  /* at that time, in parts of a ns, before what was handed over just then is shared */
	/* The share then of lanes that were handed over, and the part that was had: in parts, and ns. */
	int64_t lump[SIM_APPS];
	uint64_t handed[SIM_APPS];
};

struct truth {
	const struct sim *s;
	struct bsa_facts facts;
	struct collected *to;
	uint64_t window, starvation;
	uint32_t service;
	struct moment *moments;
	size_t n_moments;
	uint32_t *bypassed;
	bool *idle;
	uint64_t interfered[SIM_APPS][SIM_APPS];
};

static const struct sim_exec *exec_of(const struct truth *t, uint32_t exec)
{
	return &t->s->execs[exec];
}

static bool is_native(const struct truth *t, uint32_t service)
{
	return t->s->services[service].native;
}

/* ---- who is there ---- */

static void tell_names(const struct truth *t)
{
	for (uint32_t i = 0; i < t->s->n_apps; i++)
		t->facts.app(t->to, &(struct bsa_app){ .id = i + 1, .key = t->s->apps[i].key, .name = "app" });
	for (uint32_t i = 0; i < t->s->n_models; i++)
		t->facts.model(t->to,
		               &(struct bsa_model){ .id = i + 1, .number = t->s->models[i].number, .name = "model" });
	for (uint32_t i = 0; i < t->s->n_streams; i++)
		t->facts.stream(t->to, &(struct bsa_stream){ .id = i + 1, .number = t->s->streams[i].number });
}

/* ---- executions ---- */

static uint64_t slices_ns(const struct truth *t, uint32_t exec, uint32_t *n)
{
	uint64_t ns = 0;

	*n = 0;
	for (size_t i = 0; i < t->s->n_slices; i++)
		if (t->s->slices[i].exec == exec) {
			ns += t->s->slices[i].ended - t->s->slices[i].began;
			++*n;
		}
	return ns;
}

static bool was_launched(const struct sim_exec *x)
{
	return x->at[BSA_SIGNALLED] != NEVER;
}

static uint64_t end_of(const struct sim_exec *x)
{
	return x->at[was_launched(x) ? BSA_SIGNALLED : BSA_RETURNED];
}

static void phases_to_the_lane(struct bsa_execution *e, const struct sim_exec *x)
{
	uint64_t ready = x->at[BSA_ENQUEUED] != NEVER ? x->at[BSA_ENQUEUED] : x->at[BSA_RUN_ENDED],
		 on = x->at[BSA_DISPATCHED] != NEVER ? x->at[BSA_DISPATCHED] : x->at[BSA_RUN_ENDED],
		 fenced = x->at[BSA_FENCED] != NEVER ? x->at[BSA_FENCED] : x->at[BSA_DECODED];

	e->phase[BSA_PREPARE] = x->at[BSA_REQUEST_WRITTEN] - x->at[BSA_SUBMITTED];
	e->phase[BSA_SEND] = x->at[BSA_REQUEST_READ] - x->at[BSA_REQUEST_WRITTEN];
	e->phase[BSA_DECODE] = x->at[BSA_DECODED] - x->at[BSA_REQUEST_READ];
	e->phase[BSA_FENCE] = fenced - x->at[BSA_DECODED];
	e->phase[BSA_SLOTS] = ready - fenced;
	e->phase[BSA_QUEUE] = on - ready;
}

static void phases_from_the_lane(struct bsa_execution *e, const struct sim_exec *x)
{
	if (was_launched(x)) {
		e->phase[BSA_SIGNAL] = x->at[BSA_SIGNALLED] - x->at[BSA_RUN_ENDED];
		return;
	}
	e->phase[BSA_REPLY] = x->at[BSA_RESULT_WRITTEN] - x->at[BSA_RUN_ENDED];
	e->phase[BSA_RETURN] = x->at[BSA_RESULT_READ] - x->at[BSA_RESULT_WRITTEN];
	e->phase[BSA_FINISH] = x->at[BSA_RETURNED] - x->at[BSA_RESULT_READ];
}

static void phases(struct truth *t, struct bsa_execution *e, uint32_t exec)
{
	const struct sim_exec *x = exec_of(t, exec);
	uint32_t n;

	phases_to_the_lane(e, x);
	phases_from_the_lane(e, x);
	e->run = e->phase[BSA_RUN] = slices_ns(t, exec, &n); /* a preempted execution may have only one, too */
	if (n)
		e->phase[BSA_PREEMPTED] = x->at[BSA_RUN_ENDED] - x->at[BSA_DISPATCHED] - e->run;
	e->lane = n && !x->preemptions && !is_native(t, x->service) ? x->lane : -1;
	e->queue = e->phase[BSA_QUEUE];
	e->preempted = e->phase[BSA_PREEMPTED];
	e->slots = e->phase[BSA_SLOTS];
	e->e2e = end_of(x) - x->at[BSA_SUBMITTED];
}

static void tell_execution(struct truth *t, uint32_t i)
{
	const struct sim_exec *x = exec_of(t, i);
	struct bsa_execution e = { .id = i + 1,
		                   .exec = x->exec,
		                   .trace = 1,
		                   .stream = x->stream + 1,
		                   .app = x->app + 1,
		                   .model = x->model + 1,
		                   .redo = x->redo,
		                   .cpu = x->cpu,
		                   .request = x->request,
		                   .result = x->result,
		                   .deadline = x->deadline,
		                   .estimate = x->estimate,
		                   .missed_at = x->missed_at,
		                   .lookups = x->lookups,
		                   .misses = x->misses,
		                   .preemptions = x->preemptions,
		                   .bypassed = t->bypassed[i],
		                   .path = x->path,
		                   .priority = x->priority,
		                   .status = x->status,
		                   .miss = x->miss,
		                   .idle = t->idle[i] };

	memcpy(e.at, x->at, sizeof(e.at));
	memcpy(e.delay, x->delay, sizeof(e.delay));
	for (size_t k = 0; k < t->to->wait.n; k++)
		if (t->to->wait.items[k].execution == e.id)
			e.waited[t->to->wait.items[k].cause - BSA_QUEUED_BEHIND] +=
				t->to->wait.items[k].ended - t->to->wait.items[k].began;
	phases(t, &e, i);
	e.cold = x->path == BSA_PATH_BURST ? x->misses > 0 : -1;
	if (x->miss != BSA_MISS_NONE)
		e.lateness = x->miss == BSA_MISS_LATE ? (int64_t)(end_of(x) - x->deadline) : x->over;
	t->facts.execution(t->to, &e);
}

static void tell_preemptions(const struct truth *t)
{
	for (size_t i = 0; i < t->s->n_preemptions; i++) {
		const struct sim_preemption *p = &t->s->preemptions[i];

		t->facts.preemption(t->to, &(struct bsa_preemption){ .execution = p->exec + 1,
		                                                     .by = p->by + 1,
		                                                     .asked = p->asked,
		                                                     .stopped = p->stopped,
		                                                     .resumed = p->resumed,
		                                                     .redo = p->redo,
		                                                     .at_op = p->at_op,
		                                                     .mode = p->mode,
		                                                     .lane = p->lane });
	}
}

/* ---- apps: what they had, at each moment ---- */

/* Every time at which an execution came, went, or went on a lane. */
static void find_moments(struct truth *t)
{
	const struct sim *s = t->s;
	uint64_t *all = calloc(2 * (s->n_waits + s->n_slices) + 1, sizeof(*all));
	size_t n = 0, distinct = 0;

	assert(all);
	for (size_t i = 0; i < s->n_waits; i++)
		if (s->waits[i].service == t->service) {
			all[n++] = s->waits[i].began;
			all[n++] = s->waits[i].ended;
		}
	for (size_t i = 0; i < s->n_slices; i++)
		if (s->slices[i].service == t->service) {
			all[n++] = s->slices[i].began;
			all[n++] = s->slices[i].ended;
		}
	qsort(all, n, sizeof(*all), by_number);
	t->moments = calloc(n + 1, sizeof(*t->moments));
	assert(t->moments);
	for (size_t i = 0; i < n; i++)
		if (!i || all[i] != all[i - 1])
			t->moments[distinct++].at = all[i];
	t->n_moments = distinct;
	free(all);
}

static void count_at(struct truth *t, struct moment *m)
{
	for (size_t i = 0; i < t->s->n_waits; i++) {
		const struct sim_wait *w = &t->s->waits[i];

		if (w->service == t->service && w->began <= m->at && m->at < w->ended)
			m->waiting[exec_of(t, w->exec)->app]++;
	}
	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];

		if (l->service == t->service && l->began <= m->at && m->at < l->ended)
			m->running[exec_of(t, l->exec)->app]++;
	}
}

static int64_t demand(const struct moment *m, uint32_t app)
{
	return (m->waiting[app] + m->running[app]) * PARTS;
}

/* Max-min, of @lanes: the water rises for all alike, until it is used up; who has enough takes no more. */
static void share_out(const struct truth *t, struct moment *m, int64_t lanes)
{
	int64_t left = lanes * PARTS, least, n;

	memset(m->rate, 0, sizeof(m->rate));
	if (!lanes)
		return;

	do {
		least = left;
		n = 0;
		for (uint32_t a = 0; a < t->s->n_apps; a++) {
			int64_t lacks = demand(m, a) - m->rate[a];

			n += lacks > 0;
			least = lacks > 0 && lacks < least ? lacks : least;
		}
		if (!n)
			return;
		least = least < left / n ? least : left / n;
		for (uint32_t a = 0; a < t->s->n_apps; a++)
			if (demand(m, a) > m->rate[a]) {
				m->rate[a] += least;
				left -= least;
			}
	} while (left > 0);
}

/* The wait that ended with @l. */
static const struct sim_wait *wait_before(const struct truth *t, const struct sim_slice *l)
{
	for (size_t i = 0; i < t->s->n_waits; i++)
		if (t->s->waits[i].exec == l->exec && t->s->waits[i].ended == l->began)
			return &t->s->waits[i];
	abort();
}

/* Since when its lane was free, and it ready. */
static uint64_t given_at(const struct truth *t, const struct sim_slice *l)
{
	uint64_t from = wait_before(t, l)->began;

	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *other = &t->s->slices[i];

		if (other->service == l->service && other->lane == l->lane && other->ended <= l->began && other != l)
			from = other->ended > from ? other->ended : from;
	}
	return from;
}

/* How many lanes were taken, those aside that an execution was just put on. */
static int64_t lanes_before(const struct truth *t, const struct moment *m)
{
	int64_t n = 0;

	for (size_t i = 0; i < t->s->n_slices; i++)
		n += t->s->slices[i].service == t->service && t->s->slices[i].began < m->at &&
		     m->at < t->s->slices[i].ended;
	return n;
}

/* A lane that had been handed over by then is had by the receiver, and shared like a lane more. */
static void share_handed(const struct truth *t, struct moment *m)
{
	int64_t lanes = lanes_before(t, m), before[SIM_APPS];

	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];
		uint64_t ns;

		if (l->service != t->service || l->began != m->at)
			continue;
		ns = m->at - given_at(t, l);
		share_out(t, m, lanes);
		memcpy(before, m->rate, sizeof(before));
		share_out(t, m, ++lanes);
		m->handed[exec_of(t, l->exec)->app] += ns;
		for (uint32_t a = 0; a < t->s->n_apps; a++)
			m->lump[a] += (m->rate[a] - before[a]) * (int64_t)ns;
	}
}

static int64_t lag_after(const struct moment *m, uint32_t app)
{
	return m->lag[app] + m->lump[app] - (int64_t)m->handed[app] * PARTS;
}

static void find_shares(struct truth *t)
{
	find_moments(t);
	for (size_t i = 0; i < t->n_moments; i++) {
		struct moment *m = &t->moments[i], *last = i ? m - 1 : NULL;
		int64_t lanes = 0;

		count_at(t, m);
		share_handed(t, m);
		for (uint32_t a = 0; a < t->s->n_apps; a++)
			lanes += m->running[a];
		share_out(t, m, lanes);
		for (uint32_t a = 0; last && a < t->s->n_apps; a++)
			if (demand(m, a) && demand(last, a))
				m->lag[a] = lag_after(last, a) +
				            (last->rate[a] - last->running[a] * PARTS) * (int64_t)(m->at - last->at);
	}
}

/* @at is a moment. */
static int64_t lag_at(const struct truth *t, uint32_t app, uint64_t at)
{
	size_t low = 0, high = t->n_moments;

	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		*(t->moments[mid].at <= at ? &low : &high) = mid;
	}
	assert(t->moments[low].at == at);
	return t->moments[low].lag[app];
}

/* To the nearest. */
static int64_t whole(int64_t parts)
{
	return parts < 0 ? -((-parts + PARTS / 2) / PARTS) : (parts + PARTS / 2) / PARTS;
}

struct had {
	uint64_t received;
	int64_t entitled, lag;
	uint64_t lag_at;
	bool was_there;
};

static void had_lag(struct had *h, int64_t lag, uint64_t at)
{
	if (h->was_there && lag <= h->lag)
		return;
	h->lag = lag;
	h->lag_at = at;
	h->was_there = true;
}

/* From moment @i on to the next, as far as that is between @from and @until. */
static void had_between(const struct truth *t, uint32_t app, size_t i, uint64_t from, uint64_t until, struct had *ret)
{
	const struct moment *m = &t->moments[i], *next = m + 1;
	uint64_t begin = m->at > from ? m->at : from, end = next->at < until ? next->at : until;
	int64_t rate = m->rate[app], running = m->running[app] * PARTS, lag;

	if (begin >= end || !demand(m, app))
		return;
	if (begin == m->at) {
		had_lag(ret, m->lag[app], begin);
		ret->received += m->handed[app];
		ret->entitled += m->lump[app];
	}
	ret->received += (uint64_t)m->running[app] * (end - begin);
	ret->entitled += rate * (int64_t)(end - begin);
	lag = lag_after(m, app) + (rate - running) * (int64_t)(begin - m->at);
	had_lag(ret, lag, begin);
	had_lag(ret, lag + (rate - running) * (int64_t)(end - begin), end);
}

static struct had had(const struct truth *t, uint32_t app, uint64_t from, uint64_t until)
{
	struct had h = { .lag_at = NEVER };

	for (size_t i = 0; i + 1 < t->n_moments; i++)
		had_between(t, app, i, from, until, &h);
	return h;
}

static void tell_windows(struct truth *t, uint32_t app)
{
	uint64_t from = t->moments[0].at / t->window * t->window, until = t->moments[t->n_moments - 1].at;

	for (; from < until; from += t->window) {
		struct had h = had(t, app, from, from + t->window);

		if (h.received || h.entitled)
			t->facts.lag(t->to, &(struct bsa_lag){ .app = app + 1,
			                                       .window_began = from,
			                                       .received = h.received,
			                                       .entitled = (uint64_t)whole(h.entitled),
			                                       .lag = whole(h.lag),
			                                       .most = whole(h.lag) });
	}
}

static void tell_shares(struct truth *t)
{
	for (uint32_t a = 0; t->n_moments && a < t->s->n_apps; a++) {
		struct had h = had(t, a, 0, NEVER);

		if (!h.received && !h.entitled)
			continue;
		if (h.lag <= 0) {
			h.lag = 0;
			h.lag_at = NEVER;
		}
		t->facts.share(t->to, &(struct bsa_share){ .app = a + 1,
		                                           .received = h.received,
		                                           .entitled = (uint64_t)whole(h.entitled),
		                                           .max_lag = whole(h.lag),
		                                           .most_lag = whole(h.lag),
		                                           .max_lag_at = h.lag_at });
		tell_windows(t, a);
	}
}

/* ---- waits ---- */

static bool is_hogging(const struct truth *t, const struct sim_slice *l)
{
	const struct sim_exec *holder = exec_of(t, l->exec);

	return lag_at(t, holder->app, l->began) < -(int64_t)t->s->models[holder->model].step_ns * PARTS;
}

static uint8_t cause_in_queue(const struct truth *t, const struct sim_exec *x, const struct sim_slice *l)
{
	const struct sim_exec *holder = exec_of(t, l->exec);

	if (holder->app == x->app)
		return holder->priority >= x->priority ? BSA_QUEUED_BEHIND : BSA_INVERSION;
	return is_hogging(t, l) ? BSA_HOGGED : BSA_CROWDED_OUT;
}

static void tell_held(struct truth *t, const struct sim_wait *w, const struct sim_slice *l, uint64_t from,
                      uint64_t until)
{
	const struct sim_exec *x = exec_of(t, w->exec), *holder = exec_of(t, l->exec);

	t->interfered[holder->app][x->app] += until - from;
	t->facts.wait(t->to, &(struct bsa_wait){ .execution = w->exec + 1,
	                                         .began = from,
	                                         .ended = until,
	                                         .kind = w->kind,
	                                         .lane = w->lane,
	                                         .occupancy = BSA_HELD,
	                                         .blocker = l->exec + 1,
	                                         .blocker_app = holder->app + 1,
	                                         .cause = w->kind == BSA_WAIT_QUEUE ? cause_in_queue(t, x, l)
	                                                                            : (uint8_t)BSA_CAUSE_PREEMPTED });
}

static void tell_idle(struct truth *t, const struct sim_wait *w, uint64_t from, uint64_t until)
{
	if (from >= until)
		return;
	t->facts.wait(t->to, &(struct bsa_wait){ .execution = w->exec + 1,
	                                         .began = from,
	                                         .ended = until,
	                                         .kind = w->kind,
	                                         .lane = w->lane,
	                                         .occupancy = BSA_IDLE,
	                                         .cause = BSA_HANDOVER });
}

/* Does its execution have where that was, so that an idle wait need not? Or is there nothing to report? */
static bool is_all_of_it(const struct truth *t, const struct sim_wait *w)
{
	const struct sim_exec *x = exec_of(t, w->exec);

	if (x->at[BSA_DISPATCHED] == NEVER)
		return w->began == w->ended;
	return !x->preemptions;
}

/* Slices lie in the order of their ends, so those of one lane do in that of their beginnings. */
static void tell_wait(struct truth *t, const struct sim_wait *w)
{
	uint64_t from = w->began;
	bool held = false;

	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];
		uint64_t begin = l->began > w->began ? l->began : w->began,
			 end = l->ended < w->ended ? l->ended : w->ended;

		if (l->service != w->service || l->lane != w->lane || begin >= end || is_native(t, w->service))
			continue;
		assert(begin >= from); /* no two at once on a lane */
		tell_idle(t, w, from, begin);
		tell_held(t, w, l, begin, end);
		from = end;
		held = true;
	}
	t->idle[w->exec] |= !held && w->kind == BSA_WAIT_QUEUE && is_all_of_it(t, w);
	if (!t->idle[w->exec] || w->kind != BSA_WAIT_QUEUE)
		tell_idle(t, w, from, w->ended);
}

/*
 * Since when the lane that the execution entered at the end of its wait was free for it; the end of the wait, if it
 * entered none.
 */
static uint64_t free_since(const struct truth *t, const struct sim_wait *w)
{
	uint64_t ret = w->began;
	bool entered = false;

	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];

		if (l->service != w->service || l->lane != w->lane)
			continue;
		entered |= l->exec == w->exec && l->began == w->ended;
		if (l->began < w->ended && l->ended > ret)
			ret = l->ended < w->ended ? l->ended : w->ended;
	}
	return entered ? ret : w->ended;
}

static void tell_inversions(struct truth *t, const struct sim_wait *w)
{
	const struct sim_exec *x = exec_of(t, w->exec);
	uint64_t until = is_native(t, w->service) ? w->ended : free_since(t, w);

	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];
		const struct sim_exec *holder = exec_of(t, l->exec);
		uint64_t begin = l->began > w->began ? l->began : w->began, end = l->ended < until ? l->ended : until;

		if (holder->app == x->app && holder->priority < x->priority && begin < end &&
		    end - begin > t->s->models[holder->model].step_ns && !is_native(t, w->service))
			t->facts.inverted(t->to, &(struct bsa_inverted){ .victim = w->exec + 1,
			                                                 .holder = l->exec + 1,
			                                                 .began = begin,
			                                                 .dur = end - begin,
			                                                 .lane = l->lane });
	}
}

static const struct sim_wait *queue_of(const struct truth *t, uint32_t exec)
{
	for (size_t i = 0; i < t->s->n_waits; i++)
		if (t->s->waits[i].exec == exec && t->s->waits[i].kind == BSA_WAIT_QUEUE)
			return &t->s->waits[i];
	abort();
}

/* Is @l, a first one, the dispatch of an execution that came later than @w, and is no better? */
static bool bypasses(const struct truth *t, const struct sim_slice *l, const struct sim_wait *w)
{
	const struct sim_exec *x = exec_of(t, w->exec), *y = exec_of(t, l->exec);

	return l->first && l->service == w->service && w->began <= l->began && l->began < w->ended &&
	       w->began < queue_of(t, l->exec)->began && (x->app != y->app || y->priority <= x->priority);
}

static uint32_t bypasses_of(const struct truth *t, const struct sim_wait *w)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->s->n_slices; i++)
		n += bypasses(t, &t->s->slices[i], w);
	return n;
}

static void tell_starvation(struct truth *t, const struct sim_wait *w)
{
	struct bsa_starved s = { .execution = w->exec + 1, .began = w->began, .gap = w->ended - w->began };
	const struct sim_exec *x = exec_of(t, w->exec);
	uint64_t held[SIM_APPS] = { 0 };

	if (s.gap <= t->starvation || is_native(t, w->service))
		return;
	s.app = x->app + 1;
	s.model = x->model + 1;
	s.bypassed = bypasses_of(t, w);
	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];
		uint64_t begin = l->began > w->began ? l->began : w->began,
			 end = l->ended < w->ended ? l->ended : w->ended;

		if (l->service == w->service && l->lane == w->lane && begin < end)
			held[exec_of(t, l->exec)->app] += end - begin;
	}
	for (uint32_t a = 0; a < t->s->n_apps; a++)
		if (held[a] > s.top_culprit_ns) {
			s.top_culprit_ns = held[a];
			s.top_culprit_app = a + 1;
		}
	t->facts.starved(t->to, &s);
}

/* ---- decisions ---- */

/* How many other lanes were free at @given, and were so still when @l began. */
static size_t lanes_beside(const struct truth *t, const struct sim_slice *l, uint64_t given)
{
	uint32_t taken = 0;

	for (uint32_t lane = 0; lane < t->s->services[l->service].lanes; lane++) {
		bool is = lane == l->lane;

		for (size_t i = 0; i < t->s->n_slices && !is; i++) {
			const struct sim_slice *o = &t->s->slices[i];

			is = o->service == l->service && o->lane == lane && o->ended > given && o->began < l->began;
		}
		taken += is;
	}
	return t->s->services[l->service].lanes - taken;
}

/* Was a lane on its way at @at to the execution whose wait is @w? */
static bool was_given(const struct truth *t, const struct sim_wait *w, uint64_t at)
{
	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];

		if (l->exec == w->exec && l->service == w->service && l->began == w->ended)
			return given_at(t, l) <= at;
	}
	return false;
}

/*
 * Was it ready at @given, with another priority, in the same app? One that was on a lane before @l began could have had
 * that of @l, unless its own was on its way to it by then.
 */
static bool was_beside(const struct truth *t, const struct sim_wait *w, const struct sim_slice *l, uint64_t given)
{
	const struct sim_exec *x = exec_of(t, w->exec), *y = exec_of(t, l->exec);

	return x->app == y->app && w->service == l->service && w->began <= given && given < w->ended &&
	       x->priority != y->priority && (l->began < w->ended || !was_given(t, w, given));
}

static bool is_before(const struct truth *t, const struct sim_wait *one, const struct sim_wait *other)
{
	int a = exec_of(t, one->exec)->priority, b = exec_of(t, other->exec)->priority;

	return a != b ? a > b : one->began < other->began;
}

/*
 * The first of those that were ready when @l was given away for which there was no other lane. NULL: none of another
 * priority.
 */
static const struct sim_wait *passed_over(const struct truth *t, const struct sim_slice *l, uint64_t given)
{
	size_t beside = lanes_beside(t, l, given);

	for (size_t i = 0; i < t->s->n_waits; i++) {
		size_t n = 0;

		if (!was_beside(t, &t->s->waits[i], l, given))
			continue;
		for (size_t k = 0; k < t->s->n_waits; k++)
			n += was_beside(t, &t->s->waits[k], l, given) && is_before(t, &t->s->waits[k], &t->s->waits[i]);
		if (n == beside)
			return &t->s->waits[i];
	}
	return NULL;
}

static void tell_choice(const struct truth *t, const struct sim_slice *l)
{
	uint64_t given = given_at(t, l);
	const struct sim_wait *over = is_native(t, l->service) ? NULL : passed_over(t, l, given);

	if (over)
		t->facts.chosen(t->to, &(struct bsa_chosen){ .at = given,
		                                             .chosen = l->exec + 1,
		                                             .passed_over = over->exec + 1,
		                                             .honoured = exec_of(t, over->exec)->priority <
		                                                         exec_of(t, l->exec)->priority });
}

/* At the end of that instant, does no execution wait, and none have one of the lanes? */
static bool is_free_for_all(const struct truth *t, uint32_t service, uint64_t at)
{
	uint32_t held = 0;

	for (size_t i = 0; i < t->s->n_waits; i++) {
		const struct sim_wait *w = &t->s->waits[i];

		if (w->service == service && w->began <= at && at < w->ended)
			return false;
	}
	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];

		held += l->service == service && l->began <= at && at < l->ended;
	}
	return held < t->s->services[service].lanes;
}

/* From @at on. That begins then, or when an execution leaves a lane, or waits no more. */
static uint64_t queue_free(const struct truth *t, uint32_t service, uint64_t at)
{
	uint64_t first = NEVER;

	if (is_free_for_all(t, service, at))
		return at;
	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];

		if (l->service == service && l->ended >= at && l->ended < first &&
		    is_free_for_all(t, service, l->ended))
			first = l->ended;
	}
	for (size_t i = 0; i < t->s->n_waits; i++) {
		const struct sim_wait *w = &t->s->waits[i];

		if (w->service == service && w->ended >= at && w->ended < first &&
		    is_free_for_all(t, service, w->ended))
			first = w->ended;
	}
	return first;
}

static uint8_t queue_cause(const struct truth *t, const struct sim_exec *x)
{
	for (size_t i = 0; i < t->s->n_waits; i++) {
		const struct sim_wait *w = &t->s->waits[i];

		if (w->service == x->service && w->began <= x->missed_at && x->missed_at < w->ended &&
		    exec_of(t, w->exec)->app != x->app)
			return BSA_CROWDED_OUT;
	}
	return BSA_QUEUED_BEHIND;
}

static void tell_refusal(struct truth *t, uint32_t exec)
{
	const struct sim_exec *x = exec_of(t, exec);
	struct bsa_refused r = { .execution = exec + 1,
		                 .at = x->missed_at,
		                 .lane_free = NEVER,
		                 .queue_free = queue_free(t, x->service, x->missed_at),
		                 .holder_cause = BSA_CAUSE_UNKNOWN,
		                 .queue_cause = queue_cause(t, x) };
	uint32_t held = 0;

	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];

		if (l->service != x->service || l->ended < x->missed_at)
			continue;
		r.lane_free = l->ended < r.lane_free ? l->ended : r.lane_free;
		if (l->began > x->missed_at || l->ended == x->missed_at)
			continue;
		held++;
		if (l->lane)
			continue;
		r.holder = l->exec + 1;
		r.holder_app = exec_of(t, l->exec)->app + 1;
		r.holder_cause = cause_in_queue(t, x, l);
	}
	if (held < t->s->services[x->service].lanes)
		r.lane_free = x->missed_at;
	t->facts.refused(t->to, &r);
}

/* ---- all of it ---- */

static void tell_slices(const struct truth *t)
{
	for (size_t i = 0; i < t->s->n_slices; i++) {
		const struct sim_slice *l = &t->s->slices[i];

		if (exec_of(t, l->exec)->preemptions)
			t->facts.slice(t->to, &(struct bsa_slice){ .execution = l->exec + 1,
			                                           .began = l->began,
			                                           .ended = l->ended,
			                                           .trace = 1,
			                                           .instance = t->s->services[l->service].instance,
			                                           .lane = l->lane });
	}
}

static void tell_service(struct truth *t)
{
	find_shares(t);
	for (size_t i = 0; i < t->s->n_waits; i++) {
		const struct sim_wait *w = &t->s->waits[i];

		if (w->service != t->service)
			continue;
		t->bypassed[w->exec] += bypasses_of(t, w);
		tell_wait(t, w);
		tell_inversions(t, w);
		tell_starvation(t, w);
	}
	for (size_t i = 0; i < t->s->n_slices; i++)
		if (t->s->slices[i].service == t->service)
			tell_choice(t, &t->s->slices[i]);
	for (uint32_t i = 0; i < t->s->n_execs; i++)
		if (t->s->execs[i].service == t->service && t->s->execs[i].refused)
			tell_refusal(t, i);
	if (!is_native(t, t->service))
		tell_shares(t);
	free(t->moments);
	t->moments = NULL;
}

static void tell_interference(const struct truth *t)
{
	for (uint32_t by = 0; by < t->s->n_apps; by++)
		for (uint32_t app = 0; app < t->s->n_apps; app++)
			if (t->interfered[by][app])
				t->facts.interfered(t->to, &(struct bsa_interfered){ .by = by + 1,
				                                                     .app = app + 1,
				                                                     .ns = t->interfered[by][app] });
}

void truth_tell(struct collected *ret, const struct sim *s, const struct bsa_fold_options *options)
{
	struct truth t = { .s = s, .to = ret, .facts = collect_facts(ret) };

	t.window = options->window_ns ? options->window_ns : 100000000;
	t.starvation = options->starvation_ns ? options->starvation_ns : 100000000;
	t.bypassed = calloc(s->n_execs + 1, sizeof(*t.bypassed));
	t.idle = calloc(s->n_execs + 1, sizeof(*t.idle));
	assert(t.bypassed && t.idle);
	tell_names(&t);
	for (t.service = 0; t.service < s->n_services; t.service++)
		tell_service(&t);
	for (uint32_t i = 0; i < s->n_execs; i++)
		tell_execution(&t, i);
	tell_slices(&t);
	tell_preemptions(&t);
	tell_interference(&t);
	free(t.bypassed);
	free(t.idle);
}
