/* policy.c -- accounts, queues, and the times at which running jobs yield. */
#include "policy/policy.h"

#include <assert.h>
#include <stddef.h>

enum { LOOKS_MAX = 400 }; /* jobs visited to estimate the wait of one job */

/* ---- accounts ---- */

static bool app_is_idle(const struct nnb__policy_app *a)
{
	return !a->waiting && !a->running;
}

/* From @since on, no app but @a has had a job. */
static void alone_begin(struct nnb__policy *p, struct nnb__policy_app *a, uint64_t since)
{
	a->alone = ++p->alones;
	p->alone_at = since;
}

/*
 * The app has no job any more. The app keeps its claim, up to NNB__KEPT_NS, until all apps pause for that long, or
 * one app is alone for NNB__ALONE_NS.
 */
static void app_leave(struct nnb__policy *p, struct nnb__policy_app *a, uint64_t now)
{
	if (a->claim > NNB__KEPT_NS)
		a->claim = NNB__KEPT_NS;
	*a->from = a->next;
	if (a->next)
		a->next->from = a->from;
	a->left_in = p->pauses;
	if (!p->apps)
		p->paused_at = now;
	else if (!p->apps->next)
		alone_begin(p, p->apps, now);
}

/*
 * With claims: a job of @a comes, and no other app has one. All claims end if no app has had a job for long, or none
 * but @a for very long. In the second case, @a keeps its claim while it has a lag: no lag exceeds the claim.
 */
static void claims_end(struct nnb__policy *p, struct nnb__policy_app *a, uint64_t now)
{
	bool all_paused = !p->apps && now >= p->paused_at + NNB__KEPT_NS, alone;

	if (a->alone != p->alones)
		alone_begin(p, a, p->paused_at);
	alone = now >= p->alone_at + NNB__ALONE_NS && (!p->apps || a->lag <= 0);
	if (!all_paused && !alone)
		return;
	a->claim = 0;
	p->claims_kept = false;
	p->pauses++;
}

/*
 * Share the lanes, max-min: an app that can use less than an equal share gets what it can use, and leaves the rest to
 * others.
 */
static void share_lanes(struct nnb__policy *p)
{
	double left = p->lanes, share;
	uint32_t n = 0;
	bool found = true;

	for (struct nnb__policy_app *a = p->apps; a; a = a->next) {
		a->rate = -1;
		n++;
	}
	while (n && found) {
		share = left / n;
		found = false;
		for (struct nnb__policy_app *a = p->apps; a; a = a->next)
			if (a->rate < 0 && a->waiting + a->running <= share) {
				a->rate = a->waiting + a->running;
				left -= a->rate;
				n--;
				found = true;
			}
	}
	for (struct nnb__policy_app *a = p->apps; a; a = a->next)
		if (a->rate < 0)
			a->rate = left / n;
}

void nnb__policy_account(struct nnb__policy *p, uint64_t now)
{
	double dt = now > p->accounted ? (double)(now - p->accounted) : 0, missed;

	if (!p->waiting || dt <= 0)
		return; /* while no job waits, every app has all it can use */
	p->accounted = now;
	p->claims_kept = p->kind == NNB_POLICY_FAIR;
	for (struct nnb__policy_app *a = p->apps; a; a = a->next) {
		double x;

		missed = (a->rate - a->running) * dt;
		a->received += a->running * dt;
		a->entitled += a->rate * dt;
		a->lag += missed;
		x = a->claim + missed;
		a->claim = x < 0 ? 0 : x > NNB__CLAIM_MAX_NS ? NNB__CLAIM_MAX_NS : x;
		if (a->lag > a->max_lag)
			a->max_lag = a->lag;
	}
}

/* ---- queues ---- */

static bool goes_before(const struct nnb__policy *p, const struct nnb__policy_job *a, const struct nnb__policy_job *b)
{
	bool by_priority = p->kind == NNB_POLICY_FAIR || p->kind == NNB_POLICY_PRIORITY;
	bool by_deadline = p->kind == NNB_POLICY_FAIR || p->kind == NNB_POLICY_EDF;

	if (by_priority && a->priority != b->priority)
		return a->priority > b->priority;
	if (by_deadline && a->deadline_ns != b->deadline_ns)
		return a->deadline_ns < b->deadline_ns;
	return a->arrival < b->arrival;
}

static void queue_insert(struct nnb__policy *p, struct nnb__policy_job *job, uint64_t now)
{
	struct nnb__policy_job **at = &job->app->queue;

	if (!p->waiting)
		p->accounted = now;
	while (*at && goes_before(p, *at, job))
		at = &(*at)->next;
	job->next = *at;
	*at = job;
	job->lane = NNB__NO_LANE;
	job->since = now;
	job->app->waiting++;
	p->waiting++;
}

static void queue_remove(struct nnb__policy *p, struct nnb__policy_job *job)
{
	struct nnb__policy_job **at = &job->app->queue;

	assert(job->lane == NNB__NO_LANE && p->waiting && job->app->waiting);
	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	job->app->waiting--;
	p->waiting--;
}

static void lane_assign(struct nnb__policy *p, struct nnb__policy_job *job, int lane, uint64_t now)
{
	assert(lane >= 0 && lane < (int)p->lanes && p->free >> lane & 1);
	job->lane = lane;
	job->since = now;
	job->begun = true;
	job->app->running++;
	p->running[lane] = job;
	p->free &= ~(UINT64_C(1) << lane);
}

/* ---- the next job ---- */

/* The claim of an app a quantum from now, if it has @running lanes until then. */
static double app_need(const struct nnb__policy *p, const struct nnb__policy_app *a, uint32_t running)
{
	return a->claim + (a->rate - running) * (double)p->quantum_ns;
}

/* The first job of @a that waits, or @recalled, as if that one waited too. NULL: none. */
static struct nnb__policy_job *app_first(const struct nnb__policy *p, const struct nnb__policy_app *a,
                                         struct nnb__policy_job *recalled)
{
	if (recalled && recalled->app == a && (!a->queue || goes_before(p, recalled, a->queue)))
		return recalled;
	return a->queue;
}

/*
 * The app with the largest need among those with a waiting job, except @not. @holder has just yielded: if it did so
 * for a job of its own, an app that needs the lane only slightly more must not take it. @recalled (or NULL) has a lane,
 * and counts as if it waited in place of that.
 */
static struct nnb__policy_app *neediest_app(const struct nnb__policy *p, const struct nnb__policy_app * not,
                                            const struct nnb__policy_app *holder, struct nnb__policy_job *recalled)
{
	struct nnb__policy_app *best = NULL;
	uint64_t arrival = 0;
	double most = 0, x;

	for (struct nnb__policy_app *a = p->apps; a; a = a->next) {
		const struct nnb__policy_job *first = app_first(p, a, recalled);

		if (!first || a == not )
			continue;
		x = app_need(p, a, a->running - (recalled && recalled->app == a)) +
		    (a == holder ? (double)p->quantum_ns / 2 : 0);
		if (!best || x > most || (x >= most && first->arrival < arrival)) {
			best = a;
			most = x;
			arrival = first->arrival;
		}
	}
	return best;
}

/* The job to run next; at least one job waits. @holder, @recalled: as for neediest_app. */
static struct nnb__policy_job *next_job(const struct nnb__policy *p, const struct nnb__policy_app *holder,
                                        struct nnb__policy_job *recalled)
{
	struct nnb__policy_job *best = NULL;

	if (p->kind == NNB_POLICY_FAIR)
		return app_first(p, neediest_app(p, NULL, holder, recalled), recalled);
	for (const struct nnb__policy_app *a = p->apps; a; a = a->next) {
		struct nnb__policy_job *first = app_first(p, a, recalled);

		if (first && (!best || goes_before(p, first, best)))
			best = first;
	}
	return best;
}

/* ---- the lanes to yield ---- */

static bool may_leave(const struct nnb__policy *p, int lane)
{
	const struct nnb__policy_job *job = p->running[lane];

	return job && (p->preempt == NNB_PREEMPT_SAVE || job->restarts < NNB__RESTARTS_MAX);
}

/* Whether @job preempts @running at once. */
static bool preempts_at_once(const struct nnb__policy *p, const struct nnb__policy_job *job,
                             const struct nnb__policy_job *running)
{
	switch (p->kind) {
	case NNB_POLICY_FAIR:
		return job->app == running->app && job->priority > running->priority;
	case NNB_POLICY_PRIORITY:
		return job->priority > running->priority;
	case NNB_POLICY_EDF:
		return job->deadline_ns < running->deadline_ns;
	default:
		return false;
	}
}

/* The lane that @job should get: of those not yet planned to yield, the one whose holder is last in the order. */
static int lane_to_yield(const struct nnb__policy *p, const struct nnb__policy_job *job)
{
	int worst = NNB__NO_LANE;

	for (int i = 0; i < (int)p->lanes; i++)
		if (may_leave(p, i) && p->yield_at[i] && preempts_at_once(p, job, p->running[i]) &&
		    (worst < 0 || goes_before(p, p->running[worst], p->running[i])))
			worst = i;
	return worst;
}

/* Plan a lane for each waiting job that preempts, in the order of the policy. */
static void yield_in_order(struct nnb__policy *p)
{
	struct nnb__policy_app *first;
	int lane;

	for (struct nnb__policy_app *a = p->apps; a; a = a->next)
		a->at = a->queue;
	for (;;) {
		first = NULL;
		for (struct nnb__policy_app *a = p->apps; a; a = a->next)
			if (a->at && (!first || goes_before(p, a->at, first->at)))
				first = a;
		lane = first ? lane_to_yield(p, first->at) : NNB__NO_LANE;
		if (lane < 0)
			return;
		p->yield_at[lane] = 0;
		first->at = first->at->next;
	}
}

/* The speed at which an app's claim grows. */
static double claim_speed(const struct nnb__policy_app *a)
{
	double x = a->rate - a->running;

	return a->claim <= 0 && x < 0 ? 0 : x;
}

/*
 * Plan each lane to yield once a waiting app needs it a quantum more than its holder would without it. Every waiting
 * app counts as if it had the largest need and the largest speed of all, so that a job is asked too early rather than
 * too late.
 */
static void yield_in_time(struct nnb__policy *p, uint64_t now)
{
	const struct nnb__policy_app *first = neediest_app(p, NULL, NULL, NULL), *b;
	const struct nnb__policy_app *second = neediest_app(p, first, NULL, NULL);
	double quantum = (double)p->quantum_ns, fastest = -NNB__LANES_MAX, missing, closing;
	uint64_t at;

	for (const struct nnb__policy_app *a = p->apps; a; a = a->next)
		if (a->queue && claim_speed(a) > fastest)
			fastest = claim_speed(a);
	for (uint32_t i = 0; i < p->lanes; i++) {
		const struct nnb__policy_app *has = p->running[i]->app;

		b = has == first ? second : first;
		if (!b || !may_leave(p, (int)i))
			continue;
		missing = quantum - (app_need(p, b, b->running) - app_need(p, has, has->running - 1));
		closing = fastest - claim_speed(has);
		if (missing <= 0)
			at = 0;
		else
			at = closing > 0 ? now + (uint64_t)(missing / closing) + 1 : NNB__NEVER;
		if (at < p->yield_at[i])
			p->yield_at[i] = at;
	}
}

static void plan_yields(struct nnb__policy *p, uint64_t now)
{
	for (uint32_t i = 0; i < p->lanes; i++)
		p->yield_at[i] = NNB__NEVER;
	if (!p->waiting || p->preempt == NNB_PREEMPT_NONE)
		return;
	if (p->kind != NNB_POLICY_FAIR) {
		yield_in_order(p);
		return;
	}
	/* plan a lane of the same app for each of its waiting jobs that preempts */
	for (const struct nnb__policy_app *a = p->apps; a; a = a->next) {
		const struct nnb__policy_job *job = a->running ? a->queue : NULL;

		for (; job; job = job->next) {
			int lane = lane_to_yield(p, job);

			if (lane < 0)
				break;
			p->yield_at[lane] = 0;
		}
	}
	yield_in_time(p, now);
}

/* ---- events ---- */

void nnb__policy_init(struct nnb__policy *p, enum nnb_policy kind, enum nnb_preempt preempt, uint32_t lanes)
{
	assert(lanes && lanes <= NNB__LANES_MAX);
	*p = (struct nnb__policy){ .kind = kind,
		                   .preempt = preempt,
		                   .lanes = lanes,
		                   .quantum_ns = NNB__QUANTUM_NS,
		                   .free = lanes == 64 ? UINT64_MAX : (UINT64_C(1) << lanes) - 1 };
	for (uint32_t i = 0; i < NNB__LANES_MAX; i++)
		p->yield_at[i] = NNB__NEVER;
}

bool nnb__policy_ready(struct nnb__policy *p, struct nnb__policy_job *job, uint64_t now)
{
	struct nnb__policy_app *a = job->app;

	nnb__policy_account(p, now);
	if (p->claims_kept && (!p->apps || (p->apps == a && !a->next)))
		claims_end(p, a, now);
	if (app_is_idle(a)) {
		a->lag = 0;
		if (a->left_in != p->pauses)
			a->claim = 0;
		a->next = p->apps;
		a->from = &p->apps;
		if (a->next)
			a->next->from = &a->next;
		p->apps = a;
	}
	job->arrival = ++p->arrivals;
	job->begun = false;
	if (p->free) { /* a lane is free, so no job waits */
		lane_assign(p, job, __builtin_ctzll(p->free), now);
		return true;
	}
	queue_insert(p, job, now);
	share_lanes(p);
	plan_yields(p, now);
	return false;
}

static void lane_free(struct nnb__policy *p, int lane)
{
	struct nnb__policy_job *job = p->running[lane];

	assert(job->lane == lane && job->app->running);
	job->app->running--;
	p->running[lane] = NULL;
	p->free |= UINT64_C(1) << lane;
}

/* Give the free @lane to @next, which waits, and return it. */
static struct nnb__policy_job *lane_hand_over(struct nnb__policy *p, int lane, struct nnb__policy_job *next,
                                              uint64_t now)
{
	queue_remove(p, next);
	lane_assign(p, next, lane, now);
	plan_yields(p, now);
	return next;
}

struct nnb__policy_job *nnb__policy_leave(struct nnb__policy *p, int lane, bool again, uint64_t now)
{
	struct nnb__policy_job *job = p->running[lane];
	struct nnb__policy_app *app = job->app;

	nnb__policy_account(p, now);
	lane_free(p, lane);
	if (again) {
		app->preemptions++;
		if (p->preempt == NNB_PREEMPT_RESTART) {
			app->restarts++;
			job->restarts++;
		}
		queue_insert(p, job, now);
	} else if (app_is_idle(app)) {
		app_leave(p, app, now);
	}
	if (!p->waiting)
		return NULL;
	share_lanes(p);
	return lane_hand_over(p, lane, next_job(p, again ? app : NULL, NULL), now);
}

bool nnb__policy_regrets(const struct nnb__policy *p, int lane)
{
	return p->waiting && next_job(p, NULL, p->running[lane]) != p->running[lane];
}

struct nnb__policy_job *nnb__policy_recall(struct nnb__policy *p, int lane, uint64_t now)
{
	struct nnb__policy_job *job = p->running[lane], *next = next_job(p, NULL, job);

	if (next == job)
		return job;
	lane_free(p, lane);
	queue_insert(p, job, now);
	return lane_hand_over(p, lane, next, now); /* each app has as many jobs as before, and so its rate */
}

void nnb__policy_cancel(struct nnb__policy *p, struct nnb__policy_job *job, uint64_t now)
{
	nnb__policy_account(p, now);
	queue_remove(p, job);
	if (app_is_idle(job->app))
		app_leave(p, job->app, now);
	if (p->waiting)
		share_lanes(p);
	plan_yields(p, now);
}

bool nnb__policy_yield(struct nnb__policy *p, int lane, uint64_t now)
{
	nnb__policy_account(p, now);
	plan_yields(p, now);
	return p->yield_at[lane] <= now;
}

/* ---- estimates ---- */

/* A lower bound of the time until a job finishes and frees its lane; 0: at any time. */
static uint64_t time_to_free_lane(const struct nnb__policy *p, uint64_t now)
{
	uint64_t first = NNB__NEVER, end;

	for (uint32_t i = 0; i < p->lanes; i++) {
		const struct nnb__policy_job *job = p->running[i];

		if (!job->since)
			return 0;
		end = job->since + job->floor_ns;
		end = end > now ? end - now : 0;
		first = end < first ? end : first;
	}
	return first;
}

/*
 * A lower bound of the lane time of the jobs of @a that wait and go before @job; *most: the longest of them. Visits
 * at most *looks jobs, and counts *looks down.
 */
static uint64_t time_ahead(const struct nnb__policy *p, const struct nnb__policy_app *a,
                           const struct nnb__policy_job *job, uint64_t *most, uint32_t *looks)
{
	uint64_t sum = 0, least;

	for (const struct nnb__policy_job *q = a->queue; q && *looks && goes_before(p, q, job); q = q->next, --*looks) {
		least = q->begun && p->preempt == NNB_PREEMPT_SAVE ? 0 : q->floor_ns;
		sum += least;
		*most = least > *most ? least : *most;
	}
	return sum;
}

uint64_t nnb__policy_wait(const struct nnb__policy *p, const struct nnb__policy_job *job, uint64_t now)
{
	struct nnb__policy_job last = *job;
	uint64_t sum = 0, most = 0, still;
	uint32_t looks = LOOKS_MAX;

	if (p->free)
		return 0;
	last.arrival = UINT64_MAX;
	if (p->kind == NNB_POLICY_FAIR)
		sum = time_ahead(p, job->app, &last, &most, &looks);
	else
		for (const struct nnb__policy_app *a = p->apps; a; a = a->next)
			sum += time_ahead(p, a, &last, &most, &looks);
	still = (p->lanes - 1) * most; /* work that may still run on the other lanes when the job gets its lane */
	return (sum > still ? sum - still : 0) / p->lanes +
	       (p->preempt == NNB_PREEMPT_NONE ? time_to_free_lane(p, now) : 0);
}
