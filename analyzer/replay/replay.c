/* replay.c -- plays a service: calls arrive, the policy chooses, lanes run and release them. */
#include "replay/replay.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/vector.h"
#include "policy/estimate.h"
#include "policy/policy.h"
#include "policy/terms.h"

enum state {
	SUBMITS, /* apart: then the next one of its chain can be */
	COMES,   /* is on its way, and then looked at */
	ENTERS,  /* asks for a lane */
	WAITS,   /* for one; then gives up */
	BEGINS,  /* has one, and is about to run */
	RUNS,    /* its lane knows until when */
	GIVES,   /* has ended, and gives its lane */
	ANSWERS, /* its caller has the answer */
};

struct live {
	struct nnb__policy_job job; /* first: the policy's word for it */
	struct bsa_replay_call call;
	struct bsa_replay_outcome outcome;
	enum state state;
	uint64_t event;           /* the one that it waits for; another one is over */
	uint64_t since, done;     /* at the time @since, @done ns of run_ns were done */
	uint64_t until;           /* when it is too late to begin */
	uint64_t on_since;        /* on its lane */
	uint64_t stop_ns;         /* where the source has it: how long after it is asked to make room it stops */
	uint64_t asked;           /* when it was asked to make room; 0: it is not */
	enum bsa_replay_hand how; /* how the call came to its lane */
	uint32_t step;            /* the one under way, where they are listed */
	bool broken;
	struct live *next; /* the next unused struct */
};

struct event {
	uint64_t at, order;
	struct live *whose;
};

struct play {
	const struct bsa_replay *terms;
	const struct bsa_replay_source *source;
	struct nnb__policy policy;
	struct nnb__policy_app *apps;
	struct nnb__estimate *models;
	struct event *heap;
	size_t n, room;
	struct live *unused, **blocks;
	size_t n_blocks, blocks_room;
	struct {
		struct live *on; /* runs there */
		uint64_t at;     /* its next checkpoint that matters, or its end */
	} lanes[BSA_REPLAY_LANES_MAX];
	uint64_t now, order;
	bool failed;
};

enum { BLOCK = 64 };

/* ---- what is to come ---- */

static bool event_before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void event_expect(struct play *p, struct live *l, uint64_t at)
{
	struct event e = { .at = at < p->now ? p->now : at, .order = ++p->order, .whose = l };
	size_t i;

	l->event = e.order;
	if (at == BSA_REPLAY_NEVER)
		return;
	if (!BSA_RESERVE(p->heap, p->room, p->n + 1, BLOCK)) {
		p->failed = true;
		return;
	}
	for (i = p->n++; i && event_before(&e, &p->heap[(i - 1) / 2]); i = (i - 1) / 2)
		p->heap[i] = p->heap[(i - 1) / 2];
	p->heap[i] = e;
}

static struct event replay_take_first(struct play *p)
{
	struct event first = p->heap[0], last = p->heap[p->n - 1];
	size_t i = 0, child;

	assert(p->n > 0);
	p->n--;
	while ((child = 2 * i + 1) < p->n) {
		child += child + 1 < p->n && event_before(&p->heap[child + 1], &p->heap[child]);
		if (!event_before(&p->heap[child], &last))
			break;
		p->heap[i] = p->heap[child];
		i = child;
	}
	p->heap[i] = last;
	return first;
}

static struct live *live_new(struct play *p)
{
	struct live *l, *block;

	if (!p->unused) {
		if (!BSA_RESERVE(p->blocks, p->blocks_room, p->n_blocks + 1, 4) ||
		    !(block = calloc(BLOCK, sizeof(*block))))
			return NULL;
		p->blocks[p->n_blocks++] = block;
		for (int i = 0; i < BLOCK; i++) {
			block[i].next = p->unused;
			p->unused = &block[i];
		}
	}
	l = p->unused;
	p->unused = l->next;
	return l;
}

/* ---- how far it has come ---- */

/* The least that the service expects it to take of a lane. */
static uint64_t least_of(const struct play *p, const struct live *l)
{
	return p->terms->recorded ? l->call.least_ns : nnb__estimate_least(&p->models[l->call.model]);
}

static enum nnb_deadlines deadlines_of(const struct play *p, const struct live *l)
{
	return l->call.advised ? NNB_DEADLINES_ADVISE : (enum nnb_deadlines)p->terms->rules.deadlines;
}

static uint64_t too_late(const struct play *p, const struct live *l, uint64_t done)
{
	uint64_t bound = nnb__given_up_for(deadlines_of(p, l), l->call.deadline), run = l->call.run_ns, left;

	if (bound == NNB__NEVER)
		return NNB__NEVER;
	left = least_of(p, l); /* the least part of a whole run that is left after @done */
	if (done && run)
		left = nnb__estimate_rest(left, (float)((double)(run - done) / (double)run));
	return nnb__too_late(bound, left);
}

/* How much is done at the first checkpoint behind l->done that comes at @least or later; run_ns: there is none. */
static uint64_t checkpoint_from(const struct live *l, uint64_t least)
{
	uint64_t from = l->done + (least > l->since ? least - l->since : 0), at = l->done, k;

	if (from >= l->call.run_ns)
		return l->call.run_ns;
	if (l->call.steps) {
		for (uint32_t i = l->step; i < l->call.n_steps && (at < from || at == l->done); i++)
			at += l->call.steps[i];
		return at;
	}
	if (!l->call.step_ns)
		return l->call.run_ns;
	k = from / l->call.step_ns + (from % l->call.step_ns != 0);
	if (k * l->call.step_ns <= l->done)
		k = l->done / l->call.step_ns + 1;
	return k * l->call.step_ns < l->call.run_ns ? k * l->call.step_ns : l->call.run_ns;
}

/* Set the time at which the call on @lane is checked next. Called whenever the policy has planned again. */
static void look_again(struct play *p, uint32_t lane)
{
	struct live *l = p->lanes[lane].on;
	uint64_t matters, late, at, stop = NNB__NEVER;

	if (!l)
		return;
	matters = p->policy.yield_at[lane]; /* when the policy wants the call's lane; 0: at once */
	late = too_late(p, l, l->done);     /* the further it has come, the later */

	/*
	 * The policy may move yield_at while the request stands: count from the first request. The call goes
	 * on for 1 ns, at least, after it was asked in vain.
	 */
	if (p->source->stop) {
		if (matters > p->now)
			l->asked = 0;
		else if (!l->asked)
			l->asked = matters ? matters : p->now;
		if (matters != NNB__NEVER) {
			stop = (l->asked ? l->asked : matters) + l->stop_ns;
			stop = stop > l->since ? stop : l->since + 1;
		}
	}

	matters = p->source->stop || late < matters ? late : matters;
	matters = matters < p->now ? p->now : matters;
	at = l->since + (matters == NNB__NEVER ? l->call.run_ns : checkpoint_from(l, matters)) - l->done;
	p->lanes[lane].at = stop < at ? stop : at;
}

static void look_again_at_all(struct play *p)
{
	for (uint32_t i = 0; i < p->terms->rules.lanes; i++)
		look_again(p, i);
}

/* ---- its end ---- */

static void submit_next(struct play *p, uint32_t chain)
{
	struct live *l = live_new(p);

	if (!l) {
		p->failed = true;
		return;
	}
	*l = (struct live){ 0 };
	if (!p->source->next(p->source->arg, chain, p->now, &l->call)) {
		l->next = p->unused;
		p->unused = l;
		return;
	}
	l->call.chain = chain;
	l->outcome = (struct bsa_replay_outcome){ .ready = BSA_REPLAY_NEVER,
		                                  .began = BSA_REPLAY_NEVER,
		                                  .ended = BSA_REPLAY_NEVER,
		                                  .answered = BSA_REPLAY_NEVER };
	l->state = l->call.apart ? SUBMITS : COMES;
	event_expect(p, l, l->call.at + (l->call.apart ? 0 : l->call.send_ns));
}

static void call_end(struct play *p, struct live *l, enum bsa_replay_fate fate)
{
	l->outcome.fate = fate;
	l->outcome.ended = p->now;
	l->outcome.missed = fate != BSA_REPLAY_ANSWERED;
}

/* The call's fate is decided; its caller gets the answer a while later. */
static void answers_soon(struct play *p, struct live *l)
{
	uint64_t answer = l->call.answer_ns;

	if (l->outcome.fate != BSA_REPLAY_ANSWERED)
		answer = l->call.fail_ns;
	else if (p->source->answer)
		answer = p->source->answer(p->source->arg, &l->call, l->how);
	l->state = ANSWERS;
	event_expect(p, l, l->outcome.ended + answer);
}

/* ---- lanes ---- */

enum bsa_replay_hand bsa_replay_hand(bool room, bool first, uint64_t waited)
{
	if (!room)
		return BSA_REPLAY_HAND_ENDED;
	if (!first)
		return BSA_REPLAY_HAND_BACK;
	return waited < NNB__POLL_NS ? BSA_REPLAY_HAND_POLLED : BSA_REPLAY_HAND_SLEPT;
}

/* The policy gave a lane to this call, which takes a while to wake up. */
static void handed_over(struct play *p, struct nnb__policy_job *job, bool room)
{
	struct live *l = (struct live *)job;
	uint64_t wake;

	if (!l)
		return;
	l->state = BEGINS;
	l->how = bsa_replay_hand(room, !l->outcome.preemptions, p->now - l->outcome.ready);
	/*
	 * Ask the source each time: a call that once takes longer than others ask for its lane would
	 * otherwise never come to run.
	 */
	wake = l->call.wake_ns;
	if (p->source->hand)
		wake = p->source->hand(p->source->arg, &l->call, l->how, l->outcome.preemptions, p->now);
	event_expect(p, l, p->now + wake);
}

static void report_held(struct play *p, const struct live *l, uint32_t lane)
{
	if (p->source->held)
		p->source->held(p->source->arg, &l->call, lane, l->on_since, p->now);
}

/* The call has stopped running, and holds its lane until it has handed the lane over. */
static void ends_on_lane(struct play *p, struct live *l, enum bsa_replay_fate fate)
{
	uint32_t lane = (uint32_t)l->job.lane;

	p->lanes[lane].on = NULL;
	report_held(p, l, lane);
	call_end(p, l, fate);
	if (fate == BSA_REPLAY_ANSWERED && !l->broken && !p->terms->recorded)
		nnb__estimate_learn(&p->models[l->call.model], p->now - l->outcome.began);
	l->state = GIVES;
	event_expect(p, l, p->now + l->call.give_ns);
}

/* The service reads the clock only if the policy wants to know; what is unknown to it is unknown here. */
static uint64_t time_for(const struct play *p, bool leave)
{
	return nnb__policy_wants_time(&p->policy, leave) ? p->now : 0;
}

static void lane_begin(struct play *p, struct live *l)
{
	uint32_t lane = (uint32_t)l->job.lane;

	l->on_since = l->since = p->now;
	l->asked = 0;
	if (p->source->stop)
		l->stop_ns = p->source->stop(p->source->arg, &l->call, l->outcome.preemptions, p->now);
	l->state = RUNS;
	if (l->outcome.began == BSA_REPLAY_NEVER) {
		l->outcome.began = p->now;
		if (p->now >= l->until) {
			ends_on_lane(p, l, BSA_REPLAY_GAVE_UP);
			return;
		}
	}
	p->lanes[lane].on = l;
	look_again(p, lane);
}

/* The call makes room at a checkpoint, unless no other call would get the lane. */
static void may_leave(struct play *p, struct live *l)
{
	uint32_t lane = (uint32_t)l->job.lane;
	struct nnb__policy_job *next;

	if (nnb__policy_yield(&p->policy, (int)lane, p->now)) {
		next = nnb__policy_leave(&p->policy, (int)lane, true, p->now);
		if (next != &l->job) {
			p->lanes[lane].on = NULL;
			report_held(p, l, lane);
			l->outcome.preemptions++;
			l->broken = true;
			if (p->terms->rules.preempt == NNB_PREEMPT_RESTART) {
				l->done = 0;
				l->step = 0;
			}
			l->state = WAITS;
			event_expect(p, l, too_late(p, l, l->done));
			handed_over(p, next, true);
		}
	}
	look_again_at_all(p);
}

/* The call on @lane is at its end, or at a checkpoint at which it may have to stop. */
static void goes_on(struct play *p, uint32_t lane)
{
	struct live *l = p->lanes[lane].on;
	uint64_t at = l->done, done = l->done + (p->now - l->since);

	while (l->call.steps && at < done)
		at += l->call.steps[l->step++];
	l->done = done;
	l->since = p->now;
	if (l->done >= l->call.run_ns) {
		ends_on_lane(p, l, BSA_REPLAY_ANSWERED);
		return;
	}
	switch (nnb__at_checkpoint(p->now, too_late(p, l, l->done), p->policy.yield_at[lane])) {
	case NNB__GIVES_UP:
		ends_on_lane(p, l, BSA_REPLAY_ABORTED);
		break;
	case NNB__IS_ASKED:
		may_leave(p, l);
		break;
	default:
		look_again(p, lane);
	}
}

/* ---- its beginning ---- */

static void call_arrive(struct play *p, struct live *l)
{
	enum nnb_deadlines deadlines = deadlines_of(p, l);
	uint64_t least = least_of(p, l);
	enum nnb__admission admission;

	l->job = (struct nnb__policy_job){ .app = &p->apps[l->call.app],
		                           .priority = l->call.priority,
		                           .deadline_ns = l->call.deadline,
		                           .floor_ns = least,
		                           .lane = NNB__NO_LANE,
		                           .restarts = l->call.stays ? NNB__RESTARTS_MAX : 0 };
	admission = nnb__admission(deadlines, l->call.deadline, p->now, least, 0);
	if (admission == NNB__ADMITTED)
		admission = nnb__admission(deadlines, l->call.deadline, p->now, least,
		                           nnb__policy_wait(&p->policy, &l->job, p->now));
	if (admission != NNB__ADMITTED) {
		call_end(p, l, BSA_REPLAY_REFUSED);
		answers_soon(p, l);
		return;
	}
	l->state = ENTERS;
	event_expect(p, l, p->now + l->call.ready_ns);
}

static void call_enter(struct play *p, struct live *l)
{
	l->outcome.ready = p->now;
	l->job.floor_ns = least_of(p, l);
	l->job.deadline_ns = nnb__ordered_by(l->call.deadline, p->now);
	l->until = nnb__waits_until(deadlines_of(p, l), l->call.deadline, l->job.floor_ns);
	if (nnb__policy_ready(&p->policy, &l->job, time_for(p, false))) {
		l->state = BEGINS;
		l->how = BSA_REPLAY_HAND_NONE;
		event_expect(p, l, p->now + l->call.begin_ns);
		return;
	}
	l->state = WAITS;
	event_expect(p, l, l->until);
	look_again_at_all(p);
}

/* ---- the whole ---- */

static void event_happen(struct play *p, struct live *l)
{
	uint32_t chain = l->call.chain;
	bool apart = l->call.apart;

	switch (l->state) {
	case SUBMITS:
		submit_next(p, chain);
		l->state = COMES;
		event_expect(p, l, p->now + l->call.send_ns);
		break;
	case COMES:
		call_arrive(p, l);
		break;
	case ENTERS:
		call_enter(p, l);
		break;
	case WAITS:
		nnb__policy_cancel(&p->policy, &l->job, p->now);
		look_again_at_all(p);
		call_end(p, l, l->outcome.began == BSA_REPLAY_NEVER ? BSA_REPLAY_GAVE_UP : BSA_REPLAY_ABORTED);
		answers_soon(p, l);
		break;
	case BEGINS:
		lane_begin(p, l);
		break;
	case GIVES:
		handed_over(p, nnb__policy_leave(&p->policy, l->job.lane, false, time_for(p, true)), false);
		look_again_at_all(p);
		answers_soon(p, l);
		break;
	case ANSWERS:
		l->outcome.answered = p->now;
		l->outcome.missed |= l->call.deadline != BSA_REPLAY_NEVER && p->now > l->call.deadline;
		p->source->done(p->source->arg, &l->call, &l->outcome);
		l->event = 0;
		l->next = p->unused;
		p->unused = l;
		if (!apart)
			submit_next(p, chain);
		break;
	case RUNS:
		break;
	}
}

/* False: nothing more does. */
static bool next_thing(struct play *p)
{
	uint64_t first;
	uint32_t lane = BSA_REPLAY_LANES_MAX;

	while (p->n && p->heap[0].whose->event != p->heap[0].order) /* another event has taken its place */
		replay_take_first(p);
	first = p->n ? p->heap[0].at : NNB__NEVER;
	for (uint32_t i = 0; i < p->terms->rules.lanes; i++)
		if (p->lanes[i].on && p->lanes[i].at < first) {
			first = p->lanes[i].at;
			lane = i;
		}
	if (first == NNB__NEVER || p->failed)
		return false;
	p->now = first;
	if (lane < BSA_REPLAY_LANES_MAX)
		goes_on(p, lane);
	else
		event_happen(p, replay_take_first(p).whose);
	return true;
}

bool bsa_replay_run(const struct bsa_replay *r, const struct bsa_replay_source *source)
{
	struct play p = { .terms = r,
		          .source = source,
		          .apps = calloc(r->n_apps + (size_t)1, sizeof(*p.apps)),
		          .models = calloc(r->n_models + (size_t)1, sizeof(*p.models)) };

	nnb__policy_init(&p.policy, (enum nnb_policy)r->rules.policy, (enum nnb_preempt)r->rules.preempt,
	                 r->rules.lanes);
	p.failed = !p.apps || !p.models;
	for (uint32_t i = 0; !p.failed && i < r->n_models; i++)
		p.models[i] = (struct nnb__estimate){ .floor_ns = r->models[i].floor_ns,
			                              .lately_ns = r->models[i].estimate_ns,
			                              .confirmed = r->models[i].confirmed,
			                              .fixed = r->models[i].fixed };
	for (uint32_t i = 0; !p.failed && i < r->n_chains; i++)
		submit_next(&p, i);
	while (next_thing(&p))
		;
	if (!p.failed) {
		nnb__policy_account(&p.policy, p.now);
		for (uint32_t i = 0; p.terms->ret_apps && i < p.terms->n_apps; i++)
			p.terms->ret_apps[i] = (struct bsa_replay_app){ .received_ns = p.apps[i].received,
				                                        .entitled_ns = p.apps[i].entitled,
				                                        .max_lag_ns = p.apps[i].max_lag };
	}
	for (size_t i = 0; i < p.n_blocks; i++)
		free(p.blocks[i]);
	free(p.blocks);
	free(p.heap);
	free(p.models);
	free(p.apps);
	return !p.failed;
}
