/* policy_sim.c -- a simulated world for the policy, and an auditor in it. */
#include "unit/policy_sim.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NEVER UINT64_MAX
#define ROUNDING 1e-3 /* ns */
#define CLAIM_MAX 1e9
#define KEPT 1e6 /* ns: the most claim that an app without a job keeps; after so long without any job all claims end */

#define ALONE UINT64_C(1000000000) /* ns: when one app alone has had jobs for so long, all claims end */

enum state { ABSENT, WAITING, RUNNING, OVER };

struct job {
	struct nnb__policy_job job; /* the job as the policy sees it */
	enum state state;
	uint64_t comes, gives_up, deadline; /* NEVER: not known yet, or none */
	uint64_t order;                     /* the order of arrival */
	uint32_t step, restarts;
	uint64_t foretold; /* the policy's lower bound of when the job begins */
	bool dispatched, absent;
	uint64_t on_lane; /* since this time */
};

struct app {
	struct nnb__policy_app app; /* the app as the policy sees it */
	uint32_t waiting, running;
	double rate, lag, claim, received, entitled, max_lag;
	uint64_t hungry_since; /* NEVER: the app is not hungry */
	uint64_t had_job;      /* the end of the time in which the app last had a job */
};

struct world {
	const struct sim_schedule *s;
	struct sim_result *r;
	struct nnb__policy p;
	struct job *on[NNB__LANES_MAX];
	uint64_t step_ends[NNB__LANES_MAX];
	uint64_t now, told, arrivals;
	uint64_t idle_since; /* since then no app has had a job */
	uint32_t waiting;
	bool anybody_gave_up;
	struct job job[SIM_JOBS];
	struct app app[SIM_APPS];
};

static void __attribute__((format(printf, 2, 3))) audit_fail(struct world *w, const char *format, ...)
{
	va_list ap;
	int n;

	if (w->r->wrong[0])
		return;
	n = snprintf(w->r->wrong, sizeof(w->r->wrong), "at %llu: ", (unsigned long long)w->now);
	va_start(ap, format);
	vsnprintf(w->r->wrong + n, sizeof(w->r->wrong) - (size_t)n, format, ap);
	va_end(ap);
}

static void digest(struct world *w, uint64_t x)
{
	w->r->digest = (w->r->digest ^ x ^ w->now) * UINT64_C(0x9e3779b97f4a7c15);
	w->r->digest ^= w->r->digest >> 29;
}

static struct job *job_of(const struct nnb__policy_job *job)
{
	return (struct job *)job;
}

static struct app *app_of(struct world *w, const struct job *j)
{
	return &w->app[w->s->job[j - w->job].app];
}

static const struct sim_job *spec_of(const struct world *w, const struct job *j)
{
	return &w->s->job[j - w->job];
}

static uint64_t step_ns(const struct sim_job *spec, uint32_t step)
{
	uint64_t ns = spec->uneven ? spec->step_ns >> step % 3 : spec->step_ns;

	return ns ? ns : 1;
}

/* ---- the auditor: books ---- */

/*
 * Max-min fairness by its definition: raise the level of all apps until the lanes are used up; an app that has
 * enough stops.
 */
static void share(struct world *w)
{
	double left = w->s->lanes, step;
	uint32_t want, hungry;

	for (uint32_t i = 0; i < w->s->apps; i++)
		w->app[i].rate = 0;
	do {
		hungry = 0;
		step = HUGE_VAL;
		for (uint32_t i = 0; i < w->s->apps; i++) {
			want = w->app[i].waiting + w->app[i].running;
			if (w->app[i].rate < want - 1e-9) {
				hungry++;
				step = fmin(step, want - w->app[i].rate);
			}
		}
		if (!hungry)
			return;
		step = fmin(step, left / hungry);
		for (uint32_t i = 0; i < w->s->apps; i++)
			if (w->app[i].rate < w->app[i].waiting + w->app[i].running - 1e-9)
				w->app[i].rate += step;
		left -= step * hungry;
	} while (left > 1e-9);
}

static void pass_time(struct world *w, uint64_t now)
{
	double dt = (double)(now - w->now);
	struct app *a;

	if (w->waiting && dt > 0) {
		share(w);
		w->r->contended_ns += now - w->now;
		for (uint32_t i = 0; i < w->s->apps; i++) {
			a = &w->app[i];
			if (!a->waiting && !a->running)
				continue;
			a->lag += (a->rate - a->running) * dt;
			a->claim = fmax(0, fmin(CLAIM_MAX, a->claim + (a->rate - a->running) * dt));
			a->received += a->running * dt;
			a->entitled += a->rate * dt;
			a->max_lag = fmax(a->max_lag, a->lag);
			w->r->max_lag_ns = fmax(w->r->max_lag_ns, a->lag);
			w->r->max_claim_ns = fmax(w->r->max_claim_ns, a->claim);
		}
	}
	w->now = now;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= ROUNDING + 1e-9 * fabs(a);
}

static void hunger(struct world *w, struct app *a)
{
	bool hungry = a->waiting && !a->running;

	if (a->hungry_since != NEVER && w->now - a->hungry_since > w->r->hunger_ns)
		w->r->hunger_ns = w->now - a->hungry_since;
	if (!hungry)
		a->hungry_since = NEVER;
	else if (a->hungry_since == NEVER)
		a->hungry_since = w->now;
}

static bool is_idle(const struct world *w)
{
	for (uint32_t i = 0; i < w->s->apps; i++)
		if (w->app[i].waiting || w->app[i].running)
			return false;
	return true;
}

/* Whether no app but @a has a job, or had one in the last ALONE ns. */
static bool is_alone(const struct world *w, const struct app *a)
{
	for (const struct app *b = w->app; b < w->app + w->s->apps; b++)
		if (b != a && (b->waiting || b->running || w->now - b->had_job < ALONE))
			return false;
	return true;
}

static void count_jobs(struct world *w, struct job *j, int waiting, int running)
{
	struct app *a = app_of(w, j);
	bool was_idle = !a->waiting && !a->running, comes = waiting + running > 0;

	if ((is_idle(w) && w->now - w->idle_since >= (uint64_t)KEPT) ||
	    (comes && is_alone(w, a) && (was_idle || a->lag <= 0)))
		for (uint32_t i = 0; i < w->s->apps; i++)
			w->app[i].claim = 0;
	if (was_idle)
		a->lag = 0;
	a->waiting += (uint32_t)waiting;
	a->running += (uint32_t)running;
	w->waiting += (uint32_t)waiting;
	a->had_job = w->now;
	if (!a->waiting && !a->running)
		a->claim = fmin(a->claim, KEPT);
	if (is_idle(w))
		w->idle_since = w->now;
}

static void audit_app(struct world *w, uint32_t i)
{
	const struct app *a = &w->app[i];

	if (a->app.waiting != a->waiting || a->app.running != a->running)
		audit_fail(w, "app %u: counts %u waiting and %u running, not %u and %u", i, a->app.waiting,
		           a->app.running, a->waiting, a->running);
	if (!a->waiting && !a->running)
		return;
	if (w->waiting && fabs(a->app.rate - a->rate) > 1e-6)
		audit_fail(w, "app %u: rate %g, not %g", i, a->app.rate, a->rate);
	if (!is_near(a->lag, a->app.lag))
		audit_fail(w, "app %u: lag %.3f, not %.3f", i, a->app.lag, a->lag);
	if (w->s->kind == NNB_POLICY_FAIR && !is_near(a->claim, a->app.claim))
		audit_fail(w, "app %u: claim %.3f, not %.3f", i, a->app.claim, a->claim);
	if (!is_near(a->max_lag, a->app.max_lag))
		audit_fail(w, "app %u: max lag %.3f, not %.3f", i, a->app.max_lag, a->max_lag);
	if (!is_near(a->received, a->app.received) || !is_near(a->entitled, a->app.entitled))
		audit_fail(w, "app %u: received %.3f of %.3f, not %.3f of %.3f", i, a->app.received, a->app.entitled,
		           a->received, a->entitled);
}

/* ---- the auditor: decisions ---- */

static bool goes_before(const struct world *w, const struct job *a, const struct job *b)
{
	uint32_t pa = spec_of(w, a)->priority, pb = spec_of(w, b)->priority;

	if (w->s->kind != NNB_POLICY_EDF && w->s->kind != NNB_POLICY_FIFO && pa != pb)
		return pa > pb;
	if (w->s->kind != NNB_POLICY_PRIORITY && w->s->kind != NNB_POLICY_FIFO && a->deadline != b->deadline)
		return a->deadline < b->deadline;
	return a->order < b->order;
}

static bool overrides(struct world *w, const struct job *a, const struct job *running)
{
	uint32_t pa = spec_of(w, a)->priority, pb = spec_of(w, running)->priority;

	switch (w->s->kind) {
	case NNB_POLICY_FAIR:
		return app_of(w, a) == app_of(w, running) && pa > pb;
	case NNB_POLICY_PRIORITY:
		return pa > pb;
	case NNB_POLICY_EDF:
		return a->deadline < running->deadline;
	default:
		return false;
	}
}

static bool can_leave(const struct world *w, const struct job *j)
{
	switch (w->s->preempt) {
	case NNB_PREEMPT_SAVE:
		return true;
	case NNB_PREEMPT_RESTART:
		return !spec_of(w, j)->stays && j->restarts < 3;
	default:
		return false;
	}
}

/* By how much the neediest waiting app needs the lane more than the app of @running, if @running left. */
static double excess(struct world *w, const struct job *running)
{
	const struct app *ahead = app_of(w, running);
	double quantum = (double)w->p.quantum_ns, most = -HUGE_VAL;
	double rest = ahead->claim + (ahead->rate - ahead->running + 1) * quantum;

	for (uint32_t i = 0; i < w->s->apps; i++) {
		const struct app *a = &w->app[i];

		if (a->waiting && a != ahead)
			most = fmax(most, a->claim + (a->rate - a->running) * quantum - rest);
	}
	return most;
}

/* The lanes to be left for a better job: the best waiting job gets the worst lane, and so on. */
static uint64_t overridden(struct world *w)
{
	bool used[SIM_JOBS] = { false };
	uint64_t lanes = 0;
	int lane;

	for (;;) {
		struct job *best = NULL;

		for (uint32_t i = 0; i < w->s->jobs; i++) {
			struct job *j = &w->job[i];

			if (j->state == WAITING && !used[i] && (!best || goes_before(w, j, best)))
				best = j;
		}
		if (!best)
			return lanes;
		used[best - w->job] = true;
		lane = -1;
		for (int i = 0; i < (int)w->s->lanes; i++)
			if (w->on[i] && !(lanes >> i & 1) && can_leave(w, w->on[i]) && overrides(w, best, w->on[i]) &&
			    (lane < 0 || goes_before(w, w->on[lane], w->on[i])))
				lane = i;
		if (lane >= 0)
			lanes |= UINT64_C(1) << lane;
	}
}

/* Whether the job on this lane must leave now; -1: so near the border that both answers are right. */
static int must_leave(struct world *w, int lane, uint64_t lanes)
{
	double x;

	if (!w->waiting || !can_leave(w, w->on[lane]))
		return false;
	if (lanes >> lane & 1)
		return true;
	if (w->s->kind != NNB_POLICY_FAIR)
		return false;
	x = excess(w, w->on[lane]) - (double)w->p.quantum_ns;
	return fabs(x) < 1 ? -1 : x > 0;
}

static void audit_lanes(struct world *w)
{
	uint64_t lanes = w->waiting ? overridden(w) : 0;
	uint64_t used = 0;

	for (int i = 0; i < (int)w->s->lanes; i++) {
		if (w->p.running[i] != (w->on[i] ? &w->on[i]->job : NULL))
			audit_fail(w, "lane %d is another job's", i);
		if (w->on[i] && (w->on[i]->state != RUNNING || w->on[i]->job.lane != i))
			audit_fail(w, "lane %d: its job is not on it", i);
		if (!w->on[i] && w->waiting)
			audit_fail(w, "lane %d is free and a job waits", i);
		used |= (uint64_t)(w->on[i] != NULL) << i;
		if (!w->on[i])
			continue;
		if (must_leave(w, i, lanes) == true && w->p.yield_at[i] > w->now)
			audit_fail(w, "lane %d is not to be left, and should be", i);
		if ((!w->waiting || !can_leave(w, w->on[i])) && w->p.yield_at[i] != NEVER)
			audit_fail(w, "lane %d is to be left for nothing", i);
	}
	if (w->p.free != (~used & (w->s->lanes == 64 ? ~UINT64_C(0) : (UINT64_C(1) << w->s->lanes) - 1)))
		audit_fail(w, "the policy takes other lanes for free");
}

/* Check the books after each decision. */
static void audit(struct world *w)
{
	uint32_t crowd = 0;

	w->r->events++;
	if (w->waiting)
		share(w);
	for (uint32_t i = 0; i < w->s->apps; i++) {
		audit_app(w, i);
		hunger(w, &w->app[i]);
		crowd += w->app[i].waiting || w->app[i].running;
	}
	if (crowd > w->r->crowd)
		w->r->crowd = crowd;
	if (w->p.waiting != w->waiting)
		audit_fail(w, "counts %u waiting, not %u", w->p.waiting, w->waiting);
	audit_lanes(w);
}

static double needs(const struct world *w, const struct app *a, const struct app *holder)
{
	double quantum = (double)w->p.quantum_ns;

	return a->claim + (a->rate - a->running) * quantum + (a == holder ? quantum / 2 : 0);
}

/* Check the choice of @chosen, which still counts as waiting. */
static void audit_choice(struct world *w, const struct job *chosen, const struct app *holder)
{
	const struct app *mine = app_of(w, chosen);

	if (w->s->kind == NNB_POLICY_FAIR) {
		share(w);
		for (uint32_t i = 0; i < w->s->apps; i++)
			if (w->app[i].waiting && needs(w, &w->app[i], holder) > needs(w, mine, holder) + ROUNDING)
				audit_fail(w, "app %u needed the lane more than app %u", i, (uint32_t)(mine - w->app));
	}
	for (uint32_t i = 0; i < w->s->jobs; i++) {
		const struct job *j = &w->job[i];

		if (j->state == WAITING && (w->s->kind != NNB_POLICY_FAIR || app_of(w, j) == mine) &&
		    goes_before(w, j, chosen))
			audit_fail(w, "job %u goes before job %u", i, (uint32_t)(chosen - w->job));
	}
}

/* ---- events of the simulation ---- */

static struct sim_done *done_of(const struct world *w, const struct job *j)
{
	return &w->r->job[j - w->job];
}

static void job_ends(struct world *w, struct job *j)
{
	j->state = OVER;
	done_of(w, j)->over = w->now;
	for (uint32_t i = 0; i < w->s->jobs; i++)
		if (w->s->job[i].after == (int32_t)(j - w->job))
			w->job[i].comes = w->now + w->s->job[i].delay_ns;
}

static void job_begins(struct world *w, struct job *j, int lane, bool absent)
{
	j->state = RUNNING;
	j->absent = absent;
	w->on[lane] = j;
	w->r->dispatches++;
	j->on_lane = w->now;
	if (!j->dispatched)
		done_of(w, j)->began = w->now;
	done_of(w, j)->stretches++;
	w->step_ends[lane] = w->now + step_ns(spec_of(w, j), j->step);
	if (!j->dispatched && !w->anybody_gave_up && w->now < j->foretold)
		audit_fail(w, "job %u should wait until %llu at least", (uint32_t)(j - w->job),
		           (unsigned long long)j->foretold);
	j->dispatched = true;
	digest(w, (uint64_t)(j - w->job) << 8 | (unsigned)lane);
}

/*
 * A job has begun to wait: each lane whose job has not come for it goes to the job that would get it now. That is
 * another one if, and only if, the policy regrets.
 */
static void recall_lanes(struct world *w)
{
	for (int i = 0; i < (int)w->s->lanes; i++) {
		struct job *j = w->on[i], *next;
		bool regrets;

		if (!j->absent)
			continue;
		regrets = nnb__policy_regrets(&w->p, i);
		next = job_of(nnb__policy_recall(&w->p, i, w->now));
		if (regrets != (next != j))
			audit_fail(w, "lane %d is %s", i,
			           regrets ? "regretted for nothing" : "recalled without regret");
		j->state = WAITING;
		count_jobs(w, j, 1, -1);
		if (next->state != WAITING) {
			audit_fail(w, "lane %d was recalled for a job that does not wait", i);
			return;
		}
		audit_choice(w, next, NULL);
		count_jobs(w, next, -1, 1);
		w->r->recalls += next != j;
		if (next != j)
			job_begins(w, next, i, true);
		else
			j->state = RUNNING;
	}
}

/* May a lane be recalled? Then the time until a lane is free is not that of the jobs on lanes. */
static bool any_is_absent(const struct world *w)
{
	for (uint32_t i = 0; i < w->s->lanes; i++)
		if (w->on[i] && w->on[i]->absent)
			return true;
	return false;
}

static void job_arrives(struct world *w, struct job *j)
{
	const struct sim_job *spec = spec_of(w, j);
	bool wants_time = nnb__policy_wants_time(&w->p, false);

	j->deadline = spec->deadline_ns ? w->now + spec->deadline_ns : NEVER;
	j->gives_up = spec->patience_ns ? w->now + spec->patience_ns : NEVER;
	j->order = ++w->arrivals;
	*done_of(w, j) = (struct sim_done){ .came = w->now, .began = NEVER };
	j->job = (struct nnb__policy_job){ .app = &app_of(w, j)->app,
		                           .priority = spec->priority,
		                           .deadline_ns = j->deadline,
		                           .floor_ns = spec->floor_ns,
		                           .lane = NNB__NO_LANE,
		                           .restarts = spec->stays ? NNB__RESTARTS_MAX : 0 };
	j->foretold = w->now;
	if (w->s->preempt != NNB_PREEMPT_NONE || !any_is_absent(w))
		j->foretold += nnb__policy_wait(&w->p, &j->job, w->now);
	if (nnb__policy_ready(&w->p, &j->job, wants_time ? w->now : 0)) {
		if (w->waiting)
			audit_fail(w, "job %u passed waiting jobs", (uint32_t)(j - w->job));
		if (j->job.lane < 0 || j->job.lane >= (int)w->s->lanes || w->on[j->job.lane]) {
			audit_fail(w, "job %u was given lane %d", (uint32_t)(j - w->job), j->job.lane);
			return;
		}
		count_jobs(w, j, 0, 1);
		job_begins(w, j, j->job.lane, false);
	} else {
		count_jobs(w, j, 1, 0);
		j->state = WAITING;
		recall_lanes(w);
	}
	audit(w);
}

/* The job on the lane leaves; the policy chooses the next one. */
static void job_leaves(struct world *w, int lane, bool again)
{
	struct job *j = w->on[lane], *next;
	struct nnb__policy_job *job;
	bool wants_time = again || nnb__policy_wants_time(&w->p, true);

	w->on[lane] = NULL;
	done_of(w, j)->ran += w->now - j->on_lane;
	j->state = again ? WAITING : OVER;
	count_jobs(w, j, again, -1);
	if (again && w->s->preempt == NNB_PREEMPT_RESTART) {
		j->restarts++;
		j->step = 0;
	}
	job = nnb__policy_leave(&w->p, lane, again, wants_time ? w->now : 0);
	next = job ? job_of(job) : NULL;
	if (!next != !w->waiting)
		audit_fail(w, "lane %d was %s", lane, next ? "given to no waiting job" : "kept from waiting jobs");
	if (!again)
		job_ends(w, j);
	if (next) {
		if (next->state != WAITING) {
			audit_fail(w, "lane %d was given to a job that does not wait", lane);
			return;
		}
		audit_choice(w, next, again ? app_of(w, j) : NULL);
		count_jobs(w, next, -1, 1);
		job_begins(w, next, lane, w->s->absences);
	}
	audit(w);
}

static void job_gives_up(struct world *w, struct job *j)
{
	w->anybody_gave_up = true;
	done_of(w, j)->gave_up = true;
	count_jobs(w, j, -1, 0);
	job_ends(w, j);
	nnb__policy_cancel(&w->p, &j->job, w->now);
	audit(w);
}

/* A checkpoint, or the end of the job. */
static void step_ends(struct world *w, int lane)
{
	struct job *j = w->on[lane];
	bool yields;
	int must;

	j->absent = false;
	if (++j->step == spec_of(w, j)->steps || j->gives_up <= w->now) {
		w->anybody_gave_up |= j->step != spec_of(w, j)->steps;
		done_of(w, j)->gave_up = j->step != spec_of(w, j)->steps;
		job_leaves(w, lane, false);
		return;
	}
	w->step_ends[lane] = w->now + step_ns(spec_of(w, j), j->step);
	if (w->waiting)
		share(w);
	must = must_leave(w, lane, w->waiting ? overridden(w) : 0);
	yields = w->p.yield_at[lane] <= w->now && nnb__policy_yield(&w->p, lane, w->now);
	if (must >= 0 && must != yields)
		audit_fail(w, "lane %d %s", lane, yields ? "is left for nothing" : "is kept");
	w->r->yields += yields;
	if (yields)
		job_leaves(w, lane, true);
}

/* ---- the world ---- */

struct event {
	uint64_t at;
	int lane; /* the lane whose step ends; -1: no step ends */
	struct job *job;
};

static void keep_earlier(struct world *w, struct event *first, uint64_t at, int lane, struct job *job)
{
	bool tie = at == first->at && w->s->ties && (at / 7 + (uint64_t)lane + w->r->events) % w->s->ties == 0;

	if (at < first->at || tie)
		*first = (struct event){ at, lane, job };
}

static struct event next_event(struct world *w)
{
	struct event first = { NEVER, -1, NULL };

	for (int i = 0; i < (int)w->s->lanes; i++)
		if (w->on[i])
			keep_earlier(w, &first, w->step_ends[i], i, NULL);
	for (uint32_t i = 0; i < w->s->jobs; i++) {
		struct job *j = &w->job[i];

		if (j->state == ABSENT && j->comes != NEVER)
			keep_earlier(w, &first, j->comes, -1, j);
		else if (j->state == WAITING && j->gives_up != NEVER)
			keep_earlier(w, &first, j->gives_up > w->now ? j->gives_up : w->now, -1, j);
	}
	return first;
}

static void check_totals(struct world *w)
{
	double received = 0, entitled = 0, whole = (double)w->r->contended_ns * w->s->lanes;

	for (uint32_t i = 0; i < w->s->jobs; i++)
		if (w->job[i].state != OVER)
			audit_fail(w, "job %u was lost", i);
	for (uint32_t i = 0; i < w->s->apps; i++) {
		received += w->app[i].app.received;
		entitled += w->app[i].app.entitled;
	}
	if (fabs(received - whole) > 1 + 1e-9 * whole || fabs(entitled - whole) > 1 + 1e-9 * whole)
		audit_fail(w, "%.1f received and %.1f entitled of %.1f", received, entitled, whole);
	if (w->p.apps || w->p.waiting)
		audit_fail(w, "a job is left");
}

static void measure_stretch(struct world *w)
{
	for (uint32_t i = 0; i < w->s->jobs; i++) {
		const struct sim_job *spec = &w->s->job[i];
		uint64_t ns = 0;

		for (uint32_t k = 0; k < spec->steps; k++)
			ns = w->s->preempt == NNB_PREEMPT_SAVE ? spec->step_ns : ns + step_ns(spec, k);
		if (ns > w->r->stretch_ns)
			w->r->stretch_ns = ns;
	}
}

bool sim_run(const struct sim_schedule *s, struct sim_result *r)
{
	static _Thread_local struct world w;

	memset(&w, 0, offsetof(struct world, job));
	memset(w.job, 0, sizeof(w.job[0]) * s->jobs);
	memset(w.app, 0, sizeof(w.app[0]) * s->apps);
	memset(r, 0, sizeof(*r));
	w.s = s;
	w.r = r;
	nnb__policy_init(&w.p, s->kind, s->preempt, s->lanes);
	for (uint32_t i = 0; i < s->apps; i++)
		w.app[i].hungry_since = NEVER;
	for (uint32_t i = 0; i < s->jobs; i++)
		w.job[i].comes = s->job[i].after < 0 ? s->job[i].delay_ns : NEVER;
	measure_stretch(&w);
	for (struct event e = next_event(&w); e.at != NEVER && !r->wrong[0]; e = next_event(&w)) {
		pass_time(&w, e.at);
		if (e.lane >= 0)
			step_ends(&w, e.lane);
		else if (e.job->state == ABSENT)
			job_arrives(&w, e.job);
		else
			job_gives_up(&w, e.job);
	}
	if (!r->wrong[0])
		check_totals(&w);
	return !r->wrong[0];
}

double sim_bound(const struct sim_schedule *s, const struct sim_result *r)
{
	double harmonic = 0;

	for (uint32_t i = 1; i < r->crowd; i++)
		harmonic += 1.0 / i;
	return s->lanes * (double)(r->stretch_ns + NNB__QUANTUM_NS) * harmonic + KEPT;
}
