/* policy.c -- who gets a lane: accounts, queues, and when to make room. */
#include "policy/policy.h"

#include <stddef.h>

enum { LOOKS_MAX = 400 }; /* at jobs, to say how long another one will wait */

/* ---- accounts ---- */

static bool idle(const struct nnb__policy_app *a)
{
	return !a->waiting && !a->running;
}

static void enlist(struct nnb__policy *p, struct nnb__policy_app *a)
{
	a->lag = 0;
	a->claim = 0;
	a->next = p->apps;
	a->from = &p->apps;
	if (a->next)
		a->next->from = &a->next;
	p->apps = a;
}

static void delist(struct nnb__policy_app *a)
{
	*a->from = a->next;
	if (a->next)
		a->next->from = a->from;
}

/* Share the lanes out, max-min: who has use for less than an equal part gets that, and leaves the rest to the others. */
static void entitle(struct nnb__policy *p)
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

static double between(double least, double x, double most)
{
	return x < least ? least : x > most ? most : x;
}

void nnb__policy_account(struct nnb__policy *p, uint64_t now)
{
	double dt = now > p->accounted ? (double)(now - p->accounted) : 0, missed;

	if (!p->waiting || dt <= 0)
		return; /* when nobody waits, all have all they can use */
	p->accounted = now;
	for (struct nnb__policy_app *a = p->apps; a; a = a->next) {
		missed = (a->rate - a->running) * dt;
		a->received += a->running * dt;
		a->entitled += a->rate * dt;
		a->lag += missed;
		a->claim = between(0, a->claim + missed, NNB__CLAIM_MAX_NS);
		if (a->lag > a->max_lag)
			a->max_lag = a->lag;
	}
}

/* ---- queues ---- */

static bool before(const struct nnb__policy *p, const struct nnb__policy_job *a, const struct nnb__policy_job *b)
{
	bool by_priority = p->kind == NNB_POLICY_FAIR || p->kind == NNB_POLICY_PRIORITY;
	bool by_deadline = p->kind == NNB_POLICY_FAIR || p->kind == NNB_POLICY_EDF;

	if (by_priority && a->priority != b->priority)
		return a->priority > b->priority;
	if (by_deadline && a->deadline_ns != b->deadline_ns)
		return a->deadline_ns < b->deadline_ns;
	return a->arrival < b->arrival;
}

static void wait_in_queue(struct nnb__policy *p, struct nnb__policy_job *job, uint64_t now)
{
	struct nnb__policy_job **at = &job->app->queue;

	if (!p->waiting)
		p->accounted = now;
	while (*at && before(p, *at, job))
		at = &(*at)->next;
	job->next = *at;
	*at = job;
	job->lane = NNB__NO_LANE;
	job->since = now;
	job->app->waiting++;
	p->waiting++;
}

static void leave_queue(struct nnb__policy *p, struct nnb__policy_job *job)
{
	struct nnb__policy_job **at = &job->app->queue;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	job->app->waiting--;
	p->waiting--;
}

static void put_on(struct nnb__policy *p, struct nnb__policy_job *job, int lane, uint64_t now)
{
	job->lane = lane;
	job->since = now;
	job->begun = true;
	job->app->running++;
	p->running[lane] = job;
	p->free &= ~(UINT64_C(1) << lane);
}

/* ---- who goes next ---- */

/* What an app will be able to claim a quantum from now, if nothing changes. */
static double need(const struct nnb__policy *p, const struct nnb__policy_app *a)
{
	return a->claim + (a->rate - a->running) * (double)p->quantum_ns;
}

/*
 * Of the apps with a job that waits, but @not that one, the one that needs a lane most. @holder has just made room: if
 * that was for a job of its own, somebody who needs it hardly more does not take it away.
 */
static struct nnb__policy_app *neediest(const struct nnb__policy *p, const struct nnb__policy_app * not,
                                        const struct nnb__policy_app *holder)
{
	struct nnb__policy_app *best = NULL;
	double most = 0, x;

	for (struct nnb__policy_app *a = p->apps; a; a = a->next) {
		if (!a->queue || a == not )
			continue;
		x = need(p, a) + (a == holder ? (double)p->quantum_ns / 2 : 0);
		if (!best || x > most || (x >= most && a->queue->arrival < best->queue->arrival)) {
			best = a;
			most = x;
		}
	}
	return best;
}

static struct nnb__policy_app *first_in_order(const struct nnb__policy *p)
{
	struct nnb__policy_app *best = NULL;

	for (struct nnb__policy_app *a = p->apps; a; a = a->next)
		if (a->queue && (!best || before(p, a->queue, best->queue)))
			best = a;
	return best;
}

static struct nnb__policy_job *next_job(const struct nnb__policy *p, const struct nnb__policy_app *holder)
{
	return (p->kind == NNB_POLICY_FAIR ? neediest(p, NULL, holder) : first_in_order(p))->queue;
}

/* ---- who makes room ---- */

static bool may_leave(const struct nnb__policy *p, int lane)
{
	const struct nnb__policy_job *job = p->running[lane];

	return job && (p->preempt == NNB_PREEMPT_SAVE || job->restarts < NNB__RESTARTS_MAX);
}

/* Should @job make @running leave at once? */
static bool beats(const struct nnb__policy *p, const struct nnb__policy_job *job, const struct nnb__policy_job *running)
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

/* The lane for @job, of those nobody has been promised yet, whose holder would be the last to get one. */
static int victim(const struct nnb__policy *p, const struct nnb__policy_job *job)
{
	int worst = NNB__NO_LANE;

	for (int i = 0; i < (int)p->lanes; i++)
		if (may_leave(p, i) && p->yield_at[i] && beats(p, job, p->running[i]) &&
		    (worst < 0 || before(p, p->running[worst], p->running[i])))
			worst = i;
	return worst;
}

/* A lane for each of an app's jobs that should have one of its own now. */
static void make_room_within(struct nnb__policy *p, const struct nnb__policy_app *a)
{
	int lane;

	for (const struct nnb__policy_job *job = a->queue; job; job = job->next) {
		lane = victim(p, job);
		if (lane < 0)
			return;
		p->yield_at[lane] = 0;
	}
}

/* A lane for each job that should have one now, whosever it is. */
static void make_room_in_order(struct nnb__policy *p)
{
	struct nnb__policy_app *first;
	int lane;

	for (struct nnb__policy_app *a = p->apps; a; a = a->next)
		a->at = a->queue;
	for (;;) {
		first = NULL;
		for (struct nnb__policy_app *a = p->apps; a; a = a->next)
			if (a->at && (!first || before(p, a->at, first->at)))
				first = a;
		lane = first ? victim(p, first->at) : NNB__NO_LANE;
		if (lane < 0)
			return;
		p->yield_at[lane] = 0;
		first->at = first->at->next;
	}
}

/* How fast an app's claim grows. */
static double speed(const struct nnb__policy_app *a)
{
	double x = a->rate - a->running;

	return a->claim <= 0 && x < 0 ? 0 : x;
}

/*
 * Every lane, once somebody who waits needs it a quantum more than its holder would without it. Each of those who wait is
 * taken to be as needy as the neediest and as fast as the fastest, so that it is asked too early rather than too late.
 */
static void make_room_in_time(struct nnb__policy *p, uint64_t now)
{
	const struct nnb__policy_app *first = neediest(p, NULL, NULL), *second = neediest(p, first, NULL), *b;
	double quantum = (double)p->quantum_ns, fastest = -NNB__LANES_MAX, missing, closing;
	uint64_t at;

	for (const struct nnb__policy_app *a = p->apps; a; a = a->next)
		if (a->queue && speed(a) > fastest)
			fastest = speed(a);
	for (uint32_t i = 0; i < p->lanes; i++) {
		b = p->running[i]->app == first ? second : first;
		if (!b || !may_leave(p, (int)i))
			continue;
		missing = quantum - (need(p, b) - (need(p, p->running[i]->app) + quantum));
		closing = fastest - speed(p->running[i]->app);
		if (missing <= 0)
			at = 0;
		else
			at = closing > 0 ? now + (uint64_t)(missing / closing) + 1 : NNB__NEVER;
		if (at < p->yield_at[i])
			p->yield_at[i] = at;
	}
}

static void plan(struct nnb__policy *p, uint64_t now)
{
	for (uint32_t i = 0; i < p->lanes; i++)
		p->yield_at[i] = NNB__NEVER;
	if (!p->waiting || p->preempt == NNB_PREEMPT_NONE)
		return;
	if (p->kind != NNB_POLICY_FAIR) {
		make_room_in_order(p);
		return;
	}
	for (const struct nnb__policy_app *a = p->apps; a; a = a->next)
		if (a->running)
			make_room_within(p, a);
	make_room_in_time(p, now);
}

/* ---- what happens ---- */

void nnb__policy_init(struct nnb__policy *p, enum nnb_policy kind, enum nnb_preempt preempt, uint32_t lanes)
{
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
	nnb__policy_account(p, now);
	if (idle(job->app))
		enlist(p, job->app);
	job->arrival = ++p->arrivals;
	job->begun = false;
	if (p->free) { /* so nobody waits */
		put_on(p, job, __builtin_ctzll(p->free), now);
		return true;
	}
	wait_in_queue(p, job, now);
	entitle(p);
	plan(p, now);
	return false;
}

struct nnb__policy_job *nnb__policy_leave(struct nnb__policy *p, int lane, bool again, uint64_t now)
{
	struct nnb__policy_job *job = p->running[lane], *next = NULL;
	struct nnb__policy_app *app = job->app;

	nnb__policy_account(p, now);
	app->running--;
	p->running[lane] = NULL;
	p->free |= UINT64_C(1) << lane;
	if (again) {
		app->preemptions++;
		if (p->preempt == NNB_PREEMPT_RESTART) {
			app->restarts++;
			job->restarts++;
		}
		wait_in_queue(p, job, now);
	} else if (idle(app)) {
		delist(app);
	}
	if (p->waiting) {
		entitle(p);
		next = next_job(p, again ? app : NULL);
		leave_queue(p, next);
		put_on(p, next, lane, now);
		plan(p, now);
	}
	return next;
}

void nnb__policy_cancel(struct nnb__policy *p, struct nnb__policy_job *job, uint64_t now)
{
	nnb__policy_account(p, now);
	leave_queue(p, job);
	if (idle(job->app))
		delist(job->app);
	if (p->waiting)
		entitle(p);
	plan(p, now);
}

bool nnb__policy_yield(struct nnb__policy *p, int lane, uint64_t now)
{
	nnb__policy_account(p, now);
	plan(p, now);
	return p->yield_at[lane] <= now;
}

/* ---- what may be expected ---- */

/* The least until a lane is free by itself; 0 where one may be at any time. */
static uint64_t first_free(const struct nnb__policy *p, uint64_t now)
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
 * For how long those of an app who wait and go before @job will be on a lane at least; and the most of one of them. At most
 * *looks of them are looked at, and counted down.
 */
static uint64_t ahead(const struct nnb__policy *p, const struct nnb__policy_app *a, const struct nnb__policy_job *job,
                      uint64_t *most, uint32_t *looks)
{
	uint64_t sum = 0, least;

	for (const struct nnb__policy_job *q = a->queue; q && *looks && before(p, q, job); q = q->next, --*looks) {
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
		sum = ahead(p, job->app, &last, &most, &looks);
	else
		for (const struct nnb__policy_app *a = p->apps; a; a = a->next)
			sum += ahead(p, a, &last, &most, &looks);
	still = (p->lanes - 1) * most; /* may be left to do when it gets its lane */
	return (sum > still ? sum - still : 0) / p->lanes + (p->preempt == NNB_PREEMPT_NONE ? first_free(p, now) : 0);
}
