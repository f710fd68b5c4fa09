/* without.c -- replays the executions before a miss in several ways, with a cause and without it, and compares them. */
#include "replay/without.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "policy/terms.h"
#include "replay/bounds.h"
#include "replay/replay.h"

enum {
	CLOSED = 1, /* the next call of a stream comes a while after the answer before it; otherwise at its time */
	MOST = 2,   /* the rest of the victim that was given up takes as long as it can */
	FINE = 4,   /* an execution can leave its lane more often than every step */
	WAYS = 8,
	FINER = 4,  /* factor by which steps are shorter in some of the ways */
	DRAWS = 12, /* ways in which each stream, and each call, is drawn by itself */
	/*
	 * The way with the least error, but that all streams wait, or none: an error of steps must not decide
	 * what streams do.
	 */
	BEST_CLOSED = WAYS + DRAWS,
	BEST_OPEN,
	ALL_WAYS
};

static_assert(BSA_WITHOUT_PAUSE_NS == NNB__KEPT_NS, "a window begins where the policy owes nothing");

#define ERROR_APART_NS 200000 /* errors of ways that differ by less prove nothing of the ways */
#define ABSURD (UINT64_C(1) << 62)
#define NONE UINT32_MAX
#define LENGTHS 1023 /* lengths between two bounds: 0 is the least, LENGTHS the most */
#define OF_THE_WAY -1

/* A call in the replay under way. */
struct played {
	uint64_t at;       /* submitted, or when a call that is taken away would have been */
	uint64_t answered; /* for a call that is taken away: the same time */
	bool is_done, served;
	uint64_t ready, began;   /* BSA_REPLAY_NEVER: refused, or given up before */
	uint64_t ended, late_by; /* late_by: of an answer, behind its deadline, as a signed number */
	struct bsa_replay_call call;
};

struct bsa_without {
	struct bsa_without_world world;
	uint32_t *next;   /* by call: the one behind it in its stream; NONE */
	uint32_t *before; /* by call: the one before it */
	uint32_t *first;  /* by chain */
	struct played *played;
	struct bsa_bounds_call *bounds; /* by call */
	uint32_t *order;                /* the calls that have bounds */
	uint32_t n_chains;
	bool is_way[ALL_WAYS];
	uint64_t margin[ALL_WAYS];
	unsigned best; /* the way with the least error */
	/*
	 * The victim was given up: of shorter or longer lengths than these the replay is not as recorded.
	 * OF_THE_WAY: ways have them.
	 */
	int shortest, longest;
	uint64_t n_played;
};

/* How a way is played. */
struct how {
	int length;    /* run of what the victim was given up before: 0 to LENGTHS; OF_THE_WAY */
	bool is_short; /* hand-overs to calls that find a lane idle are as short as they can be */
};

/* One replay. */
struct play {
	struct bsa_without *w;
	const struct bsa_without_change *change;
	uint64_t step;      /* the longest of those who made room: just where they could is not known */
	uint32_t *at;       /* by chain: the next call; NONE */
	unsigned way, draw; /* draw: of its steps, and of what is left of runs */
	struct how how;
	bool found_idle; /* a hand-over to an idle lane, which can be shorter or longer, is in the replay */
	/* the earliest time at which a call outside the window could be ready; 0: the victim cannot come so
	 * early */
	uint64_t unknown_from;
};

/* ---- what is taken away ---- */

static bool is_without_app(const struct play *p, const struct bsa_without_call *c)
{
	const struct bsa_without_change *change = p->change;

	return change->without_app && c->app == change->app && (!change->without_model || c->model == change->model);
}

static bool is_taken(const struct play *p, uint32_t i)
{
	const struct bsa_without_call *c = &p->w->world.calls[i];
	const struct bsa_without_change *change = p->change;

	if (i == p->w->world.victim || c->before)
		return false;
	for (size_t k = 0; k < change->n_executions; k++)
		if (change->executions[k] == c->id)
			return true;
	return is_without_app(p, c);
}

/* @ns without @less, which is more if it is below 0. */
static uint64_t ns_without(uint64_t ns, int64_t less)
{
	if (less < 0)
		return ns + ((uint64_t)0 - (uint64_t)less);
	return ns > (uint64_t)less ? ns - (uint64_t)less : 0;
}

/* ---- what is open ---- */

/* Returns a pseudo-random number that depends on @what and the draw of the replay alone. */
static uint32_t draw_for(const struct play *p, uint64_t what)
{
	uint64_t x = (what + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (p->draw + UINT64_C(1)) * UINT64_C(0xc2b2ae3d27d4eb4f);

	x ^= x >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(x >> 33);
}

static bool is_closed(const struct play *p, const struct bsa_without_call *c)
{
	if (p->way == BEST_CLOSED || p->way == BEST_OPEN)
		return p->way == BEST_CLOSED;
	return p->way < WAYS ? p->way & CLOSED : draw_for(p, c->stream) & 1;
}

/* The length of what is left of @c in this replay: 0 to LENGTHS. */
static int length_of(const struct play *p, const struct bsa_without_call *c)
{
	if (p->how.length != OF_THE_WAY && c == &p->w->world.calls[p->w->world.victim])
		return p->how.length;
	if (p->draw < WAYS)
		return p->draw & MOST ? LENGTHS : 0;
	return (int)(draw_for(p, c->id) % (LENGTHS + 1));
}

/* A length between @least and @most, of which only these bounds are known. */
static uint64_t open_length(const struct play *p, const struct bsa_without_call *c, uint64_t least, uint64_t most)
{
	int length = length_of(p, c);

	if (most == BSA_WITHOUT_UNKNOWN)
		return least;
	return length == LENGTHS ? most : least + (uint64_t)((double)(most - least) * (double)length / LENGTHS);
}

/* ---- when a call comes ---- */

static uint64_t earlier_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t distance_of(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Whether @c was submitted without waiting for the answer of @before. */
static bool is_beside(const struct bsa_without_call *before, const struct bsa_without_call *c)
{
	return before->answered > c->submitted;
}

/* When call @i is submitted; @answered: the one before it was. */
static uint64_t comes_at(struct play *p, uint32_t i, uint64_t answered)
{
	const struct bsa_without_call *c = &p->w->world.calls[i], *before;
	uint32_t b = p->w->before[i];

	if (b == NONE)
		return c->submitted;
	before = &p->w->world.calls[b];
	if (!is_closed(p, c) && answered > c->submitted && !is_beside(before, c) && !c->waits &&
	    c->submitted < p->unknown_from) /* does it wait for the answer? It never had to */
		p->unknown_from = c->submitted;
	if (!is_closed(p, c))
		return is_beside(before, c) ? c->submitted : bsa_later_of(c->submitted, answered);
	if (is_beside(before, c))
		return p->w->played[b].at + (c->submitted - before->submitted);
	return answered + (c->submitted - before->answered);
}

/*
 * The stream of call @i, the last one of it in the window, goes on: what comes then is ready behind the
 * horizon, less what @i is early.
 */
static void runs_out(struct play *p, uint32_t i, uint64_t answered)
{
	const struct bsa_without_call *c = &p->w->world.calls[i];
	uint64_t horizon = p->w->world.horizon, at = horizon, beside;

	if (horizon == BSA_WITHOUT_UNKNOWN)
		return;
	if (is_without_app(p, c) && (!p->change->without_model || p->w->world.one_model))
		return; /* each call that comes later in the stream is taken away, too */
	if (is_closed(p, c)) {
		at = answered + (horizon > c->answered ? horizon - c->answered : 0);
		beside = p->w->played[i].at + (horizon > c->submitted ? horizon - c->submitted : 0);
		at = beside < at ? beside : at;
	}
	if (at < p->unknown_from)
		p->unknown_from = at;
}

/* @now: its thread cannot submit it before. */
static void fill_victim(struct play *p, uint64_t now, struct bsa_replay_call *ret)
{
	const struct bsa_without_change *change = p->change;
	const struct bsa_without_world *world = &p->w->world;
	uint64_t way = ns_without(ret->send_ns + ret->ready_ns, change->before), before = world->answered_before;

	ret->send_ns = ret->send_ns < way ? ret->send_ns : way;
	ret->ready_ns = way - ret->send_ns;
	ret->wake_ns = ns_without(ret->wake_ns, change->hand);
	ret->begin_ns = earlier_of(ret->begin_ns, ret->wake_ns);
	ret->run_ns = ns_without(ret->run_ns, change->run);
	ret->answer_ns = ns_without(ret->answer_ns, change->after);
	if (ret->deadline != BSA_REPLAY_NEVER)
		ret->deadline = ns_without(ret->deadline, -change->later);
	ret->at = ns_without(ret->at, (int64_t)change->earlier);

	/* The thread of the victim has the answer of a call that is not in the window: it may have waited for it. */
	before = before <= world->calls[world->victim].submitted ? before : 0;
	if (change->earlier && ret->at < bsa_later_of(now, before))
		p->unknown_from = 0;
}

static void call_fill(struct play *p, uint32_t i, uint64_t at, uint64_t now, struct bsa_replay_call *ret)
{
	const struct bsa_without_call *c = &p->w->world.calls[i];
	uint32_t after = p->w->next[i];
	uint64_t until, n, hand, begin, fail = c->fail, together = 0;
	uint64_t finer = p->draw < WAYS ? (p->draw & FINE ? FINER : 1) : 1 + draw_for(p, ~c->id) % FINER;
	uint64_t step = c->step && finer > 1 ? c->step / finer + 1 : c->step;

	/* 0 or 1 ns: if a change makes two things happen at once, their order is unknown. */
	if (p->way >= WAYS && p->way < BEST_CLOSED)
		together = draw_for(p, c->id ^ UINT64_C(0x5bd1e995)) & 1;

	/* A call that was given up while it waited fails so long after the latest end of its wait. */
	if (c->waited && c->deadline != BSA_WITHOUT_UNKNOWN) {
		until = bsa_later_of(nnb__waits_until((enum nnb_deadlines)p->w->world.deadlines, c->deadline, c->least),
		                     c->submitted + c->send + c->ready);
		fail = c->answered > until ? c->answered - until : fail;
	}

	/* A call that was given up while it ran was at a checkpoint then, at the end of a step. */
	if (c->ran && step) {
		n = (c->ran + step - 1) / step;
		step = (c->ran + n - 1) / n;
	} else if (c->ran)
		step = c->ran;

	hand = open_length(p, c, c->hand, c->hand + c->hand_more);
	begin = c->hand_more ? earlier_of(open_length(p, c, 0, c->idle_most), hand)
	                     : hand - (p->how.is_short ? c->hand_less : 0);
	*ret = (struct bsa_replay_call){ .at = at,
		                         .send_ns = c->send,
		                         .ready_ns = c->ready + together,
		                         .begin_ns = begin,
		                         .wake_ns = hand,
		                         .run_ns = open_length(p, c, c->run, c->run_most),
		                         .answer_ns = open_length(p, c, c->answer, c->answer_most),
		                         .fail_ns = fail,
		                         .step_ns = step,
		                         .deadline =
		                                 c->deadline == BSA_WITHOUT_UNKNOWN ? BSA_REPLAY_NEVER : c->deadline,
		                         .least_ns = c->least,
		                         .app = c->app,
		                         .priority = c->priority,
		                         .tag = i,
		                         .apart = after != NONE && is_beside(c, &p->w->world.calls[after]) };
	if (is_closed(p, c) && ret->deadline != BSA_REPLAY_NEVER)
		ret->deadline = ns_without(ret->deadline, (int64_t)(c->submitted - at));
	if (i == p->w->world.victim)
		fill_victim(p, now, ret);
	ret->run_ns = ret->run_ns ? ret->run_ns : 1;
	if (!c->before && ret->at + ret->send_ns + ret->ready_ns < p->w->world.begins)
		p->unknown_from = 0; /* others are there that the replay does not have */
}

static bool next_call(void *arg, uint32_t chain, uint64_t now, struct bsa_replay_call *ret)
{
	struct play *p = arg;
	uint32_t i = p->at[chain], last = i == NONE ? NONE : p->w->before[i];

	for (; i != NONE; i = p->w->next[i]) {
		uint64_t at = comes_at(p, i, now);

		p->w->played[i].at = at;
		p->at[chain] = p->w->next[i];
		if (!is_taken(p, i)) {
			call_fill(p, i, at, now, ret);
			p->w->n_played++;
			return true;
		}
		now = at; /* the thread that submits the call goes on as if it had been answered at once */
		last = i;
	}
	if (last == NONE) { /* all are submitted: find the last one */
		last = p->w->first[chain];
		while (p->w->next[last] != NONE)
			last = p->w->next[last];
	}
	runs_out(p, last, now);
	return false;
}

static void call_done(void *arg, const struct bsa_replay_call *call, const struct bsa_replay_outcome *o)
{
	struct play *p = arg;
	const struct bsa_without_call *c = &p->w->world.calls[call->tag];
	uint64_t hand = o->began == BSA_REPLAY_NEVER ? 0 : earlier_of(call->wake_ns, o->began - o->ready);
	/* Another policy gives lanes to others as soon as one takes a little longer. */
	bool is_bounded =
		c->run_most != BSA_WITHOUT_UNKNOWN && p->w->world.policy == NNB_POLICY_FIFO && p->w->world.lanes == 1;

	/*
	 * The call had a lane for longer than was recorded: the length of the rest, and everything after it, is unknown
	 * from the earliest time at which it can have left the lane.
	 */
	if (call->tag != p->w->world.victim && !c->served && !is_bounded) {
		if (o->fate == BSA_REPLAY_ANSWERED)
			p->unknown_from = earlier_of(p->unknown_from,
			                             o->ended - (call->run_ns - c->run) - (c->hand_more ? hand : 0));
		else if (c->hand_more && o->began != BSA_REPLAY_NEVER)
			p->unknown_from = earlier_of(p->unknown_from, o->began - hand);
	}
	/* It is given a lane at another time than it was: how long its thread would not have come then is unknown. */
	if (c->absent && o->began != BSA_REPLAY_NEVER && distance_of(o->ended, c->ended) > p->w->margin[p->way])
		p->unknown_from = earlier_of(p->unknown_from, o->began - hand);
	if (o->preemptions)
		p->step = bsa_later_of(p->step, c->step + c->hand_more);
	p->found_idle |= c->hand_less && o->began != BSA_REPLAY_NEVER && o->began - o->ready == call->begin_ns;
	p->w->played[call->tag] = (struct played){ .at = call->at,
		                                   .is_done = true,
		                                   .served = o->fate == BSA_REPLAY_ANSWERED,
		                                   .answered = o->answered,
		                                   .ready = o->ready,
		                                   .began = o->began,
		                                   .ended = o->ended,
		                                   .late_by = o->answered - call->deadline,
		                                   .call = *call };
}

/* ---- how far it can be from the truth ---- */

struct known {
	uint64_t until;       /* a time of the replay */
	uint64_t margin;      /* beside that of the way */
	uint64_t early, late; /* the victim can be answered so much earlier, or later */
	bool found_idle;      /* a call found a lane idle that it waited for as recorded */
};

/* Its run was given up: how long it takes is known between bounds. */
static bool has_open_end(const struct bsa_without *w, uint32_t i)
{
	const struct bsa_without_call *c = &w->world.calls[i];

	return i != w->world.victim && !c->served && w->played[i].is_done && c->run_most != BSA_WITHOUT_UNKNOWN;
}

/* The call is given up where it was. */
static bool is_as_recorded(const struct play *p, uint32_t i)
{
	const struct played *x = &p->w->played[i];
	const struct bsa_without_call *c = &p->w->world.calls[i];

	return !c->served && !x->served && distance_of(x->ended, c->ended) <= p->w->margin[p->way];
}

static void bounds_fill(const struct play *p, uint32_t i, struct bsa_bounds_call *ret)
{
	const struct bsa_without *w = p->w;
	const struct bsa_without_call *c = &w->world.calls[i];
	const struct played *x = &w->played[i];
	const struct bsa_replay_call *call = &x->call;
	enum nnb_deadlines deadlines = (enum nnb_deadlines)w->world.deadlines;
	bool closed = is_closed(p, c);
	enum bsa_bounds_comes comes = BSA_COMES_AT;
	uint64_t hand = call->wake_ns;

	if (w->before[i] != NONE && is_beside(&w->world.calls[w->before[i]], c))
		comes = closed ? BSA_COMES_BESIDE : BSA_COMES_AT;
	else if (w->before[i] != NONE)
		comes = closed ? BSA_COMES_AFTER : BSA_COMES_NOT_LESS;

	if (x->ready != BSA_REPLAY_NEVER && x->began != BSA_REPLAY_NEVER)
		hand = earlier_of(hand, x->began - x->ready); /* a call that found a lane idle waited for no more */

	*ret = (struct bsa_bounds_call){ .comes = comes,
		                         .before = w->before[i],
		                         .taken = !x->is_done,
		                         .moves = closed,
		                         .served = x->served,
		                         .at = x->at,
		                         .looked = x->at + call->send_ns,
		                         .ready = x->ready,
		                         .began = x->began,
		                         .ended = x->is_done ? x->ended : x->at,
		                         .answered = x->answered,
		                         .hand = hand,
		                         .as_recorded = is_as_recorded(p, i),
		                         .run_least = c->served ? call->run_ns : c->run,
		                         .until = nnb__waits_until(deadlines, call->deadline, c->least),
		                         .deadline = call->deadline,
		                         .can_abort = deadlines == NNB_DEADLINES_ABORT && call->step_ns &&
		                                      call->deadline != BSA_REPLAY_NEVER,
		                         .least = c->least };
	if (!has_open_end(w, i))
		return;
	ret->hand_less = hand > c->hand ? hand - c->hand : 0;
	ret->hand_more = c->hand + c->hand_more - hand;
	if (c->hand_more) { /* a call that finds the lane idle can begin at once */
		ret->idle_less = hand;
		ret->idle_more = c->idle_most > hand ? c->idle_most - hand : 0;
	}
	ret->run_less = call->run_ns - c->run;
	ret->run_more = c->run_most - call->run_ns;
	ret->answer_less = call->answer_ns - c->answer;
	ret->answer_more = c->answer_most - call->answer_ns;
}

static int by_asking(const void *a, const void *b, void *arg)
{
	const struct bsa_bounds_call *calls = arg, *x = &calls[*(const uint32_t *)a], *y = &calls[*(const uint32_t *)b];
	uint64_t s = bsa_bounds_asks(x), t = bsa_bounds_asks(y);

	if (s != t)
		return s < t ? -1 : 1;
	if (x->began != y->began)
		return x->began < y->began ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* The time that others that were given up, and are not any more, may take longer or shorter than in this replay. */
static void find_bounds(const struct play *p, struct known *ret)
{
	struct bsa_without *w = p->w;
	size_t n = 0;
	uint64_t most = 0;
	bool any = false;

	for (uint32_t i = 0; i < w->world.n; i++)
		any |= has_open_end(w, i) && (w->played[i].served || !is_as_recorded(p, i));
	if (!any)
		return;
	for (uint32_t i = 0; i < w->world.n; i++) {
		bounds_fill(p, i, &w->bounds[i]);
		if (w->played[i].at || w->played[i].is_done)
			w->order[n++] = i;
	}
	qsort_r(w->order, n, sizeof(*w->order), by_asking, w->bounds);
	ret->until = earlier_of(ret->until, bsa_bounds_find(w->bounds, w->order, n));
	for (size_t i = 0; i < n; i++) /* the calls that come behind the horizon can come so much earlier */
		most = bsa_later_of(most, w->bounds[w->order[i]].ret_early);
	ret->until = ret->until == BSA_WITHOUT_UNKNOWN || ret->until < most ? ret->until : ret->until - most;
	ret->early = w->bounds[w->world.victim].ret_early;
	ret->late = w->bounds[w->world.victim].ret_late;
}

static bool play_way(struct bsa_without *w, const struct bsa_without_change *change, unsigned way, struct how how,
                     struct known *ret)
{
	struct play p = { .w = w,
		          .change = change,
		          .way = way,
		          .how = how,
		          .draw = way < BEST_CLOSED ? way : w->best,
		          .unknown_from = BSA_WITHOUT_UNKNOWN };
	const struct bsa_replay replay = { .rules = { w->world.policy, w->world.preempt, w->world.deadlines,
		                                      w->world.lanes },
		                           .n_apps = w->world.n_apps,
		                           .n_chains = w->n_chains,
		                           .recorded = true };
	const struct bsa_replay_source source = { .next = next_call, .done = call_done, .arg = &p };
	bool is_played;

	p.at = malloc((w->n_chains + (size_t)1) * sizeof(*p.at));
	if (!p.at)
		return false;
	memcpy(p.at, w->first, w->n_chains * sizeof(*p.at));
	memset(w->played, 0, w->world.n * sizeof(*w->played));
	is_played = bsa_replay_run(&replay, &source);
	free(p.at);
	*ret = (struct known){ .until = p.unknown_from, .margin = p.step, .found_idle = p.found_idle };
	if (is_played && w->world.policy == NNB_POLICY_FIFO && w->world.lanes == 1)
		find_bounds(&p, ret);
	return is_played;
}

/* ---- as it was ---- */

/* The largest error up to the end of the victim; ABSURD: it is another course of things. */
static uint64_t error_of(const struct bsa_without *w)
{
	const struct bsa_without_call *victim = &w->world.calls[w->world.victim];
	const struct played *played = &w->played[w->world.victim];
	uint64_t most = 0, error;

	if (played->served && (int64_t)played->late_by <= 0)
		return ABSURD; /* the victim did not miss its deadline */
	for (size_t i = 0; i < w->world.n; i++) {
		const struct bsa_without_call *c = &w->world.calls[i];
		const struct played *x = &w->played[i];

		if (c->ended == BSA_WITHOUT_UNKNOWN || c->ended > victim->ended)
			continue;
		if (!x->is_done || x->served != c->served || (x->ready == BSA_REPLAY_NEVER) != c->refused ||
		    (c->waited && x->began != BSA_REPLAY_NEVER))
			return ABSURD;
		error = c->served ? distance_of(x->ended, c->ended) : distance_of(x->answered, c->answered);
		most = error > most ? error : most;
	}
	error = distance_of(played->answered, victim->answered);
	return error > most ? error : most;
}

static const struct bsa_without_change nothing;
static const struct how as_the_way = { .length = OF_THE_WAY };

/* Is the replay of the best way as recorded if what was left of the victim has this length? False: no memory. */
static bool fits_length(struct bsa_without *w, int length, uint64_t error_most, bool *ret)
{
	const struct how how = { .length = length };
	struct known known;

	if (!play_way(w, &nothing, w->best, how, &known))
		return false;
	*ret = error_of(w) <= error_most;
	return true;
}

/*
 * Bisect: the replay is as recorded with length @fits. *ret: the first length towards @end with which it is
 * not, or @end. False: no memory.
 */
static bool find_length(struct bsa_without *w, int fits, int end, uint64_t error_most, int *ret)
{
	bool is_fit;

	if (!fits_length(w, end, error_most, &is_fit))
		return false;
	while (!is_fit && (fits - end > 1 || end - fits > 1)) {
		int middle = (fits + end) / 2;
		bool also;

		if (!fits_length(w, middle, error_most, &also))
			return false;
		fits = also ? middle : fits;
		end = also ? end : middle;
	}
	*ret = end;
	return true;
}

/* Whether one of the ways that count has the least, or the most, that was left of the victim. */
static bool is_tried(const struct bsa_without *w, unsigned most)
{
	for (unsigned way = 0; way < WAYS; way++)
		if (w->is_way[way] && (way & MOST) == most)
			return true;
	return false;
}

/*
 * A victim that was given up at a checkpoint was so because of what was left of it, so that only some lengths
 * of that are as recorded. The ways have a few of these alone: find the bounds of all.
 */
static bool find_lengths(struct bsa_without *w, uint64_t error_most)
{
	const struct bsa_without_call *victim = &w->world.calls[w->world.victim];
	const struct play best = { .w = w, .draw = w->best, .how = as_the_way };
	int fits = length_of(&best, victim);

	w->shortest = w->longest = OF_THE_WAY;
	if (victim->served ||
	    (victim->run == victim->run_most && victim->answer == victim->answer_most && !victim->hand_more))
		return true;
	return (is_tried(w, 0) || find_length(w, fits, 0, error_most, &w->shortest)) &&
	       (is_tried(w, MOST) || find_length(w, fits, LENGTHS, error_most, &w->longest));
}

static bool find_ways(struct bsa_without *w, bool *ret_any)
{
	unsigned open = 0; /* the set of unknowns that have to be tried both ways */
	struct known known;
	uint64_t best = ABSURD;

	if (w->world.policy != NNB_POLICY_FIFO && w->world.preempt != NNB_PREEMPT_NONE)
		open |= FINE;
	if (w->world.horizon != BSA_WITHOUT_UNKNOWN) /* calls after the horizon may follow any call */
		open |= CLOSED;
	for (size_t i = 0; i < w->world.n; i++) {
		const struct bsa_without_call *c = &w->world.calls[i];

		open |= w->before[i] != NONE ? CLOSED : 0;
		open |= c->run != c->run_most || c->answer != c->answer_most || c->hand_more ? MOST : 0;
	}

	for (unsigned way = 0; way < ALL_WAYS; way++) {
		w->margin[way] = ABSURD;
		if (way < WAYS ? way & ~open : !open)
			continue;
		if (!play_way(w, &nothing, way, as_the_way, &known))
			return false;
		w->margin[way] = error_of(w);
		if (w->margin[way] >= best)
			continue;
		best = w->margin[way];
		w->best = way < BEST_CLOSED ? way : w->best;
	}
	for (unsigned way = 0; way < ALL_WAYS; way++)
		w->is_way[way] = w->margin[way] < ABSURD && w->margin[way] <= 2 * best + ERROR_APART_NS;
	*ret_any = best < ABSURD;
	return best == ABSURD || find_lengths(w, 2 * best + ERROR_APART_NS);
}

/* ---- streams ---- */

static int by_stream(const void *a, const void *b, void *arg)
{
	const struct bsa_without_call *calls = arg;
	const struct bsa_without_call *x = &calls[*(const uint32_t *)a], *y = &calls[*(const uint32_t *)b];

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->submitted != y->submitted)
		return x->submitted < y->submitted ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static bool find_chains(struct bsa_without *w)
{
	uint32_t n = (uint32_t)w->world.n, *order = malloc(n * sizeof(*order));

	if (!order)
		return false;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_stream, (void *)w->world.calls);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = order[k];
		bool goes_on = k && w->world.calls[order[k - 1]].stream == w->world.calls[i].stream;

		w->before[i] = goes_on ? order[k - 1] : NONE;
		w->next[i] = NONE;
		if (goes_on)
			w->next[order[k - 1]] = i;
		else
			w->first[w->n_chains++] = i;
	}
	free(order);
	return true;
}

/* ---- */

bool bsa_without_new(struct bsa_without **ret, const struct bsa_without_world *world)
{
	struct bsa_without *w = calloc(1, sizeof(*w));
	bool any = false, done = false;

	if (w) {
		w->world = *world;
		w->next = calloc(world->n, sizeof(*w->next));
		w->before = calloc(world->n, sizeof(*w->before));
		w->first = calloc(world->n, sizeof(*w->first));
		w->played = calloc(world->n, sizeof(*w->played));
		w->bounds = calloc(world->n, sizeof(*w->bounds));
		w->order = calloc(world->n, sizeof(*w->order));
		done = w->next && w->before && w->first && w->played && w->bounds && w->order && find_chains(w) &&
		       find_ways(w, &any);
	}
	if (!done || !any)
		w = bsa_without_free(w);
	if (done)
		*ret = w;
	return done;
}

struct bsa_without *bsa_without_free(struct bsa_without *w)
{
	if (w) {
		free(w->next);
		free(w->before);
		free(w->first);
		free(w->played);
		free(w->bounds);
		free(w->order);
		free(w);
	}
	return NULL;
}

/* Returns the verdict of this replay on the victim: 1, 0, or -1 (cannot decide). */
static int verdict_of(const struct bsa_without *w, unsigned way, struct known known)
{
	const struct played *victim = &w->played[w->world.victim];
	int64_t late_by = (int64_t)victim->late_by;
	uint64_t margin = w->margin[way] + known.margin;

	if (!victim->is_done || (victim->served ? victim->answered : victim->ended) + known.late > known.until)
		return -1;
	if (!victim->served)
		return 0;
	if (late_by > 0)
		return (uint64_t)late_by > margin + known.early ? 0 : -1;
	return (uint64_t)-late_by >= margin + known.late ? 1 : -1;
}

/* A victim that was given up waited for calls that make room at checkpoints: the longest of their steps. */
static uint64_t step_awaited(const struct bsa_without *w)
{
	const struct played *victim = &w->played[w->world.victim];
	uint64_t most = 0;

	if (w->world.policy == NNB_POLICY_FIFO || w->world.preempt == NNB_PREEMPT_NONE || victim->served)
		return 0;
	for (size_t i = 0; i < w->world.n; i++) {
		const struct played *x = &w->played[i];

		if (i != w->world.victim && x->is_done && x->began <= victim->ended && x->ended >= victim->ready)
			most = bsa_later_of(most, x->call.step_ns);
	}
	return most;
}

/*
 * The verdict of one way. A victim that is given up has no answer that could be compared with the margin: it
 * is given the margin as a longer deadline, and must be given up all the same. *ret_found_idle is left as it
 * is, or set.
 */
static bool ask_hand(struct bsa_without *w, const struct bsa_without_change *change, unsigned way, struct how how,
                     int *ret, bool *ret_found_idle)
{
	const struct played *victim = &w->played[w->world.victim];
	struct bsa_without_change longer = *change;
	struct known known;
	uint64_t margin;

	if (!play_way(w, change, way, how, &known))
		return false;
	*ret_found_idle |= known.found_idle;
	*ret = verdict_of(w, way, known);
	margin = w->margin[way] + bsa_later_of(known.margin, step_awaited(w));
	if (*ret || victim->served || !margin)
		return true;
	longer.later += (int64_t)margin;
	if (!play_way(w, &longer, way, how, &known))
		return false;
	*ret_found_idle |= known.found_idle;
	*ret = victim->is_done && !victim->served ? 0 : -1;
	return true;
}

/* The same, once more with short hand-overs where a call found a lane idle that it waited for as recorded. */
static bool ask_way(struct bsa_without *w, const struct bsa_without_change *change, unsigned way, int length, int *ret)
{
	struct how how = { .length = length };
	bool found_idle = false;
	int also;

	if (!ask_hand(w, change, way, how, ret, &found_idle))
		return false;
	if (*ret < 0 || !found_idle)
		return true;
	how.is_short = true;
	if (!ask_hand(w, change, way, how, &also, &found_idle))
		return false;
	*ret = also == *ret ? also : -1;
	return true;
}

/* Calls that were there when the replay begins stay as they were, and so does what they come of. */
static bool is_within(const struct bsa_without *w, const struct bsa_without_change *change)
{
	const struct bsa_without_call *victim = &w->world.calls[w->world.victim];

	if (change->earlier && ns_without(victim->submitted, (int64_t)change->earlier) < w->world.begins)
		return false;
	for (size_t i = 0; i < w->world.n; i++)
		for (size_t k = 0; w->world.calls[i].before && k < change->n_executions; k++)
			if (w->world.calls[i].id == change->executions[k])
				return false;
	return true;
}

/* All ways, with this length of what was left of the victim, have to agree. *ret: -1: they do not. */
static bool ask_ways(struct bsa_without *w, const struct bsa_without_change *change, int length, int *ret)
{
	int said = -2, says;

	for (unsigned way = 0; way < ALL_WAYS && said != -1; way++) {
		if (!w->is_way[way])
			continue;
		if (!ask_way(w, change, way, length, &says))
			return false;
		said = said == -2 || said == says ? says : -1;
	}
	*ret = said < 0 ? -1 : said;
	return true;
}

bool bsa_without_ask(struct bsa_without *w, const struct bsa_without_change *change, int *ret)
{
	int said, also, length;
	bool reaches_back = false;

	*ret = -1;
	if (!is_within(w, change))
		return true;
	if (!ask_ways(w, change, OF_THE_WAY, &said))
		return false;
	length = said ? w->longest : w->shortest;
	if (said >= 0 && length != OF_THE_WAY) {
		if (!ask_ways(w, change, length, &also))
			return false;
		said = also == said ? said : -1;
	}

	/* An app that had been there before may have cost the victim what the replay begins with. */
	for (size_t i = 0; change->without_app && i < w->world.n; i++)
		reaches_back |= w->world.calls[i].before;
	*ret = said < 0 || (!said && reaches_back) ? -1 : said;
	return true;
}

uint64_t bsa_without_played(const struct bsa_without *w)
{
	return w->n_played;
}
