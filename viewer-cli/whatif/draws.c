/*
 * draws.c -- a recording, replayed.
 *
 * What was recorded of a call is taken where it holds: its run, if it ran to its end; the ways to
 * and from the service; think times. What was not is drawn from other calls of the model near in
 * time. Beyond seed 0 the run of each call is that of one near in time, and all runs of a model are
 * longer or shorter by up to MOOD: how fast a machine is that day matters more than the order of
 * calls. Beyond seed 0 the load of the machine differs, too: threads that were ready and had no cpu
 * wait for between no time and LOAD_MOST times as long as recorded. Of 36 pairs of recordings on a
 * loaded machine, two minutes apart, the load of 28 differed by a factor of 3 or less. The delay of
 * fenced runs is not recorded: theirs is drawn from the runs whose delay is known.
 */
#include "whatif/draws.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE = 2 /* the value of bsa_replay_rules.preempt */ };
enum { CALLS_MOST = 100000, CALLS_TIMES = 10 /* as many as were recorded, of a closed loop */ };
enum { NEAR = 4 /* calls, each way */, LOOKS = 64, MOODS = BSV_SEEDS - 1 };
enum { RUN_DRAW = 1, OTHER_DRAW, BEGIN_DRAW, DELAY_DRAW, HAND_DRAWS = 16, STOP_DRAWS = 1 << 30 /* all from here on */ };
enum { LOAD_ORDER = 7 /* the order of loads over the seeds: not that of the moods of the first models */ };
enum { FEWEST_HANDS = 10, FEWEST_STOPS = 10, FEWEST_ANSWERS = 20, FEWEST_DELAYS = 10 };
/* fewer do not show how long others take */
#define MOOD 0.15
#define LOAD_MOST 3.0
#define IDLE_WAY_NS 50000 /* a way or a wake-up that takes longer met a loaded machine */
#define LOOK_NS 1000000   /* drivers look at least so often: tests/unit/test_looks.c */
#define LONGEST_RUN_NS UINT64_C(1000000000000000)

struct cursor {
	size_t at;    /* the next call */
	size_t drawn; /* how many there were */
};

struct draw {
	const struct bsv_past *past;
	const struct bsv_whatif_change *change;
	struct cursor *cursors;
	struct bsv_blocked *blocked; /* by group */
	struct bsv_group_figures *figures;
	uint64_t seed, block_ns;
	double load;
	bool failed;
};

/* ---- chance ---- */

/* A number that depends on the seed, the chain and the place in it, and on nothing else. */
static uint64_t draw_number(const struct draw *d, uint64_t chain, uint64_t place, uint64_t what)
{
	uint64_t x = d->seed * UINT64_C(0x9e3779b97f4a7c15) + chain * UINT64_C(0xbf58476d1ce4e5b9) +
	             place * UINT64_C(0x94d049bb133111eb) + what * UINT64_C(0x2545f4914f6cdd1d);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* A wake-up or a way that took @ns: the load scales the part beyond what an idle machine needs. */
static uint64_t under_load(const struct draw *d, uint64_t ns)
{
	return ns > IDLE_WAY_NS && ns < LONGEST_RUN_NS ? IDLE_WAY_NS + (uint64_t)((double)(ns - IDLE_WAY_NS) * d->load)
	                                               : ns;
}

/*
 * The seeds @seed and BSV_SEEDS - @seed have opposite moods of each model, and opposite loads: both are silent, or
 * neither is, so that the medians of the silent replays and of the others are those of no mood.
 */
bool bsv_draw_is_silent(uint64_t seed)
{
	return seed == 3 || seed == 5 || seed == BSV_SEEDS - 3 || seed == BSV_SEEDS - 5;
}

/* ---- one call ---- */

static const struct bsv_group_change *change_of(const struct draw *d, uint32_t model)
{
	static const struct bsv_group_change none = { .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 };

	return d->change && d->change->groups ? &d->change->groups[d->past->models[model].group] : &none;
}

static const struct bsv_past_call *call_at(const struct draw *d, const struct bsv_past_chain *chain, int64_t i)
{
	int64_t n = (int64_t)chain->n;

	if (i < 0 || i >= n) /* a division is slow, and rarely needed */
		i = (i % n + n) % n;
	return &d->past->calls[chain->calls[i]];
}

/*
 * A whole run of the model near place @i of its chain, or of another app's model of that name. NULL: no whole run is
 * known.
 */
static const struct bsv_past_call *whole_near(const struct draw *d, uint32_t chain, int64_t i)
{
	const struct bsv_past *p = d->past;
	const struct bsv_past_chain *c = &p->chains[chain];
	const struct bsv_past_model *m = &p->models[c->model];
	int64_t first =
		d->seed ? i + (int64_t)(draw_number(d, chain, (uint64_t)i, RUN_DRAW) % (2 * NEAR + 1)) - NEAR : i;
	const char *name = p->groups[m->group].model_name;

	for (int64_t k = 0; k < LOOKS && k <= (int64_t)c->n; k++) {
		int64_t at = k % 2 ? first - (k + 1) / 2 : first + k / 2;

		if (call_at(d, c, at)->whole)
			return call_at(d, c, at);
	}
	for (size_t k = 0, from = draw_number(d, chain, (uint64_t)i, OTHER_DRAW) % p->n_calls; k < p->n_calls; k++) {
		const struct bsv_past_call *other = &p->calls[(from + k) % p->n_calls];

		if (other->whole && !other->trial && !strcmp(p->groups[p->models[other->model].group].model_name, name))
			return other;
	}
	return NULL;
}

/*
 * The part of the run of @c in which its thread had no cpu, in BSV_DELAYED_ALL parts. If it was not
 * recorded: that of one of the runs of the group near in time whose delay is known, or, where there
 * are few, of all groups. 0: no delay is known.
 */
static double delay_of(const struct draw *d, uint32_t group, const struct bsv_past_call *c, uint64_t number)
{
	const struct bsv_past_delays *known = &d->past->groups[group].delays;
	size_t least = 0, most, from, to;
	uint32_t call = (uint32_t)(c - d->past->calls);

	if (c->delayed != BSV_DELAYED_UNKNOWN)
		return c->delayed;
	if (known->n < FEWEST_DELAYS)
		known = &d->past->delays;
	if (!known->n)
		return 0;
	most = known->n;
	while (least < most) { /* the first one after @c */
		size_t mid = least + (most - least) / 2;

		if (known->calls[mid] < call)
			least = mid + 1;
		else
			most = mid;
	}
	from = least > NEAR ? least - NEAR : 0;
	to = least + NEAR < known->n ? least + NEAR : known->n;
	return d->past->calls[known->calls[from + number % (to - from)]].delayed;
}

static uint64_t run_of(const struct draw *d, uint32_t chain, int64_t i)
{
	const struct bsv_past_call *c = call_at(d, &d->past->chains[chain], i), *other;
	const struct bsv_past_model *m = &d->past->models[c->model];
	const struct bsv_group_change *change = change_of(d, c->model);
	uint64_t known = c->run_ns == BSA_REPLAY_NEVER ? 0 : c->run_ns, ns = known;
	uint64_t order = 1 + (uint64_t)m->group * 3 % MOODS, rank = d->seed * order % (MOODS + 1);
	double run, delayed = 0, mood = 1;

	/*
	 * Over the seeds from 1 to MOODS each model gets each mood once, in an order of its own, so
	 * the median stays the same.
	 */
	if (d->seed)
		mood += MOOD * (2 * (double)(rank - 1) / (MOODS - 1) - 1);
	if (!c->whole || c->imagined || d->seed) {
		other = whole_near(d, chain, i);
		ns = other ? other->run_ns : m->estimate_ns ? m->estimate_ns : m->floor_ns;
		delayed = other ? delay_of(d, m->group, other, draw_number(d, chain, (uint64_t)i, DELAY_DRAW)) : 0;
		if (!c->whole && !c->imagined && ns < known) /* the execution was given up after this time */
			ns = known + known / 8;
	}
	run = (double)ns * (1 + delayed / BSV_DELAYED_ALL * (d->load - 1)) * mood / change->speed +
	      (double)change->run_ns;
	return run < BSV_LEAST_RUN_NS ? BSV_LEAST_RUN_NS : run < LONGEST_RUN_NS ? (uint64_t)run : LONGEST_RUN_NS;
}

enum way { READY, ANSWER, FAIL };

static uint64_t way_of(const struct bsv_past_call *c, enum way way)
{
	if (way == READY)
		return c->ready_ns;
	return c->served == (way == ANSWER) && !c->imagined ? c->answer_ns : BSA_REPLAY_NEVER;
}

/* The way of call @i; if it did not take this way, that of the nearest call that did. */
static uint64_t way_near(const struct draw *d, uint32_t chain, int64_t i, enum way way)
{
	uint64_t ns = BSA_REPLAY_NEVER;

	for (int64_t k = 0; ns == BSA_REPLAY_NEVER && k < LOOKS; k++)
		ns = way_of(call_at(d, &d->past->chains[chain], k % 2 ? i - (k + 1) / 2 : i + k / 2), way);
	return ns == BSA_REPLAY_NEVER ? 0 : ns;
}

/*
 * One of @t near @at, under this load: a machine that is busy for a while gives lanes on late in
 * that while. 0 if @t has no times.
 */
static uint64_t time_near(const struct draw *d, const struct bsv_past_times *t, uint64_t at, uint64_t number)
{
	unsigned part = bsv_past_part(d->past, at);
	size_t from = t->first[part], to = t->first[part + 1];

	if (!t->n)
		return 0;
	from = from > NEAR ? from - NEAR : 0;
	to = to + NEAR < t->n ? to + NEAR : t->n;
	return under_load(d, t->ns[from + number % (to - from)]);
}

/* Recorded times, and the part of them that a hand-over takes. */
struct hands {
	const struct bsv_past_times *times;
	double part;
};

/*
 * The times that were recorded of such hand-overs. If there are few, a thread that polls begins as
 * soon as one that finds a lane free, and the times of another kind of hand-over stand for those of
 * this one: a thread starts sooner if its waker goes to sleep (a preempted execution) than if its
 * waker keeps running (an ended one). In recordings of closed loops and of overload under fair, it
 * took 35 to 46 percent of the time, in the mean, or 66 to 76 percent if the thread had made room
 * itself.
 */
static struct hands hands_of(const struct bsv_past *p, enum bsa_replay_hand how)
{
	static const double part[BSA_REPLAY_HANDS] = {
		[BSA_REPLAY_HAND_ENDED] = 1, [BSA_REPLAY_HAND_SLEPT] = 0.4, [BSA_REPLAY_HAND_BACK] = 0.7
	};
	static const enum bsa_replay_hand others[] = { BSA_REPLAY_HAND_ENDED, BSA_REPLAY_HAND_BACK,
		                                       BSA_REPLAY_HAND_SLEPT };

	enum bsa_replay_hand most = BSA_REPLAY_HAND_ENDED;

	if (how == BSA_REPLAY_HAND_POLLED)
		return (struct hands){ p->hands[how].n >= NEAR || !p->begins.n ? &p->hands[how] : &p->begins, 1 };
	for (unsigned i = 0; p->hands[how].n < FEWEST_HANDS && i < sizeof(others) / sizeof(*others); i++) {
		if (p->hands[others[i]].n >= FEWEST_HANDS)
			return (struct hands){ &p->hands[others[i]], part[how] / part[others[i]] };
		most = p->hands[others[i]].n > p->hands[most].n ? others[i] : most;
	}
	if (!p->hands[how].n) /* a few of another kind are better than none */
		return (struct hands){ &p->hands[most], part[how] / part[most] };
	return (struct hands){ &p->hands[how], 1 };
}

static uint64_t hand_over(void *arg, const struct bsa_replay_call *call, enum bsa_replay_hand how, uint32_t times,
                          uint64_t now)
{
	const struct draw *d = arg;
	struct hands hands = hands_of(d->past, how);
	uint64_t ns =
		time_near(d, hands.times, now, draw_number(d, call->chain, call->place, HAND_DRAWS + (uint64_t)times));

	return ns < LONGEST_RUN_NS ? (uint64_t)((double)ns * hands.part) : ns;
}

/* What stops is in the midst of an operation: a model that is twice as fast comes to its next look twice as soon. */
static uint64_t time_to_stop(void *arg, const struct bsa_replay_call *call, uint32_t times, uint64_t now)
{
	const struct draw *d = arg;
	uint64_t ns = time_near(d, &d->past->stops, now,
	                        draw_number(d, call->chain, call->place, STOP_DRAWS + (uint64_t)times));
	double speed = change_of(d, d->past->calls[call->tag].model)->speed;

	return ns < LONGEST_RUN_NS ? (uint64_t)((double)ns / speed) : ns;
}

/*
 * The answer to a call depends on how the call came to its lane: if it never slept, its client
 * still polls for the answer. Take the time of the nearest call of the chain that came to its lane
 * like this, or else in the most similar way that was recorded.
 */
static uint64_t time_to_answer(void *arg, const struct bsa_replay_call *call, enum bsa_replay_hand how)
{
	static const uint8_t similar[BSA_REPLAY_HANDS + 1][BSA_REPLAY_HANDS + 1] = {
		[BSA_REPLAY_HAND_ENDED] = { BSA_REPLAY_HAND_ENDED, BSA_REPLAY_HAND_SLEPT, BSA_REPLAY_HAND_BACK,
		                            BSA_REPLAY_HAND_POLLED, BSA_REPLAY_HAND_NONE },
		[BSA_REPLAY_HAND_POLLED] = { BSA_REPLAY_HAND_POLLED, BSA_REPLAY_HAND_NONE, BSA_REPLAY_HAND_ENDED,
		                             BSA_REPLAY_HAND_SLEPT, BSA_REPLAY_HAND_BACK },
		[BSA_REPLAY_HAND_SLEPT] = { BSA_REPLAY_HAND_SLEPT, BSA_REPLAY_HAND_ENDED, BSA_REPLAY_HAND_BACK,
		                            BSA_REPLAY_HAND_POLLED, BSA_REPLAY_HAND_NONE },
		[BSA_REPLAY_HAND_BACK] = { BSA_REPLAY_HAND_BACK, BSA_REPLAY_HAND_ENDED, BSA_REPLAY_HAND_SLEPT,
		                           BSA_REPLAY_HAND_POLLED, BSA_REPLAY_HAND_NONE },
		[BSA_REPLAY_HAND_NONE] = { BSA_REPLAY_HAND_NONE, BSA_REPLAY_HAND_POLLED, BSA_REPLAY_HAND_ENDED,
		                           BSA_REPLAY_HAND_SLEPT, BSA_REPLAY_HAND_BACK }
	};
	const struct draw *d = arg;
	const struct bsv_past_chain *chain = &d->past->chains[call->chain];
	unsigned i = 0;

	while (i <= BSA_REPLAY_HANDS && chain->hows[similar[how][i]] < FEWEST_ANSWERS)
		i++;
	for (int64_t k = 0; k < LOOKS && i <= BSA_REPLAY_HANDS; k++) {
		const struct bsv_past_call *c = call_at(d, chain, (int64_t)call->nth + (k % 2 ? -(k + 1) / 2 : k / 2));

		if (c->how == similar[how][i] && way_of(c, ANSWER) != BSA_REPLAY_NEVER)
			return under_load(d, c->answer_ns);
	}
	return call->answer_ns;
}

/* @at: about when. */
static void fill_call(struct draw *d, uint32_t chain, int64_t i, uint64_t place, uint64_t at,
                      struct bsa_replay_call *ret)
{
	const struct bsv_past_call *c = call_at(d, &d->past->chains[chain], i);
	const struct bsv_past_model *m = &d->past->models[c->model];
	const struct bsv_group_change *change = change_of(d, c->model);
	uint32_t preempt = d->change ? d->change->rules.preempt : d->past->rules.preempt;
	uint64_t step, look = m->look_ns ? m->look_ns : LOOK_NS;

	*ret = (struct bsa_replay_call){
		.deadline = BSA_REPLAY_NEVER,
		.send_ns = under_load(d, c->send_ns == BSA_REPLAY_NEVER ? 0 : c->send_ns),
		.ready_ns = under_load(d, way_near(d, chain, i, READY)),
		.answer_ns = under_load(d, way_near(d, chain, i, ANSWER)),
		.fail_ns = d->past->chains[chain].fails ? under_load(d, way_near(d, chain, i, FAIL)) : 0,
		.run_ns = run_of(d, chain, i),
		.app = m->app,
		.model = c->trial ? (uint32_t)d->past->n_models : c->model, /* nothing is known of a trial */
		.priority = change->priority ? (uint32_t)change->priority - 1 : c->priority,
		.tag = (uint32_t)(c - d->past->calls),
		.place = (uint32_t)place,
		.nth = (uint32_t)i
	};
	/* Between two checkpoints; where what is computed is kept, between two looks of the driver. */
	step = m->step_ns ? m->step_ns : m->operations > 0 ? ret->run_ns / (uint64_t)m->operations + 1 : 0;
	if (d->change && d->change->groups && m->step_ns)
		step = (uint64_t)((double)step / d->change->groups[m->group].speed);
	if (preempt == SAVE && (!step || look < step))
		step = look;
	if (d->change && d->change->step_ns && (!step || d->change->step_ns < step))
		step = d->change->step_ns;
	ret->step_ns = step;
	ret->begin_ns = time_near(d, &d->past->begins, at, draw_number(d, chain, place, BEGIN_DRAW));
}

static void set_deadline(const struct draw *d, const struct bsv_past_chain *chain, const struct bsv_past_call *c,
                         uint64_t due, struct bsa_replay_call *ret)
{
	const struct bsv_group_change *change = change_of(d, c->model);
	uint64_t budget = chain->budget_ns;

	if (change->budget_ns == BSA_REPLAY_NEVER ||
	    (change->budget_ns == BSV_UNCHANGED && c->deadline == BSA_REPLAY_NEVER))
		return;
	if (change->budget_ns != BSV_UNCHANGED)
		budget = change->budget_ns;
	else if (budget == BSA_REPLAY_NEVER)
		budget = c->deadline > c->due ? c->deadline - c->due : 0;
	ret->deadline = due + budget;
}

/* ---- chains ---- */

/* When call @k of an open chain is due; behind the last one it goes on as it began, if calls come more often. */
static uint64_t due_at(const struct draw *d, const struct bsv_past_chain *chain, size_t k)
{
	const struct bsv_past_call *first = call_at(d, chain, 0), *last = call_at(d, chain, (int64_t)chain->n - 1);
	uint64_t span = last->due - first->due + (chain->n > 1 ? (last->due - first->due) / (chain->n - 1) : 1);
	uint64_t since = call_at(d, chain, (int64_t)k)->due - first->due + k / chain->n * span;

	return first->due + (uint64_t)((double)since / change_of(d, chain->model)->rate);
}

static bool chain_is_over(const struct draw *d, const struct bsv_past_chain *chain, size_t k)
{
	double rate = change_of(d, chain->model)->rate;

	return rate <= 1 && k >= chain->n;
}

static bool next_open(struct draw *d, uint32_t number, uint64_t now, struct bsa_replay_call *ret)
{
	const struct bsv_past_chain *chain = &d->past->chains[number];
	struct cursor *at = &d->cursors[number];
	uint64_t due, lag, earlier = change_of(d, chain->model)->earlier_ns;
	const struct bsv_past_call *c, *before;

	if (chain_is_over(d, chain, at->at) || due_at(d, chain, at->at) > chain->ends)
		return false;
	while (chain->skips && !chain_is_over(d, chain, at->at + 1) && due_at(d, chain, at->at + 1) <= now)
		at->at++;
	due = due_at(d, chain, at->at);
	if (due > chain->ends)
		return false;
	c = call_at(d, chain, (int64_t)at->at);
	before = at->at % chain->n ? call_at(d, chain, (int64_t)at->at - 1) : NULL;
	/* The thread took this long again after that */
	lag = before && before->answered > c->due ? before->answered : c->due;
	lag = c->imagined || c->submitted < lag ? 0 : c->submitted - lag;
	fill_call(d, number, (int64_t)at->at, at->drawn, due > now ? due : now, ret);
	set_deadline(d, chain, c, due, ret);
	due = due > earlier ? due - earlier : 0;
	ret->at = (due > now ? due : now) + lag;
	ret->apart = chain->loop == BSV_LOOP_APART;
	at->at++;
	return true;
}

static bool next_closed(struct draw *d, uint32_t number, uint64_t now, struct bsa_replay_call *ret)
{
	const struct bsv_past_chain *chain = &d->past->chains[number];
	struct cursor *at = &d->cursors[number];
	size_t i = at->drawn % chain->n;
	const struct bsv_past_call *c = call_at(d, chain, (int64_t)i), *before;
	uint64_t when = c->submitted;

	if (at->drawn && i) {
		before = call_at(d, chain, (int64_t)i - 1);
		when = now + (uint64_t)((double)(c->submitted - before->answered) / change_of(d, chain->model)->rate);
	} else if (at->drawn) { /* more than were recorded */
		when = now;
	}
	if (at->drawn && chain->single && bsv_draw_is_silent(d->seed))
		return false;
	if (when > chain->ends || (when == chain->ends && at->drawn >= chain->n))
		return false;
	while (at->at + 1 < chain->n && call_at(d, chain, (int64_t)at->at + 1)->submitted <= when)
		at->at++;
	/* if the call has another place in its chain now: the recorded call that is nearest in time */
	fill_call(d, number, d->seed ? (int64_t)at->at : (int64_t)i, at->drawn, when, ret);
	ret->at = when;
	set_deadline(d, chain, c, when, ret);
	return true;
}

static bool next_call(void *arg, uint32_t chain, uint64_t now, struct bsa_replay_call *ret)
{
	struct draw *d = arg;
	const struct bsv_past_chain *c = &d->past->chains[chain];
	double rate = change_of(d, c->model)->rate, most = (double)c->n * (rate > 1 ? rate : 1) + 1;

	/* Where times are absurd, a chain could go on for years, or come again and again at one time. */
	if (c->loop == BSV_LOOP_CLOSED)
		most = most * CALLS_TIMES + CALLS_MOST;
	if (change_of(d, c->model)->without || (double)d->cursors[chain].drawn >= most ||
	    !(c->loop == BSV_LOOP_CLOSED ? next_closed : next_open)(d, chain, now, ret))
		return false;
	d->cursors[chain].drawn++;
	return true;
}

/* ---- what comes of it ---- */

static uint64_t block_length(const struct bsv_past *past)
{
	return past->length / BSV_BLOCKS + 1;
}

static unsigned block_of(uint64_t block_ns, uint64_t at)
{
	uint64_t block = at / block_ns;

	return block < BSV_BLOCKS ? (unsigned)block : BSV_BLOCKS - 1;
}

/* Until it was answered; without a result there was none before the deadline. */
static double waited_ns(uint64_t at, uint64_t answered, uint64_t deadline, bool served)
{
	uint64_t until = !served && deadline != BSA_REPLAY_NEVER && deadline > answered ? deadline : answered;

	return until > at ? (double)(until - at) : 0;
}

static void call_done(void *arg, const struct bsa_replay_call *call, const struct bsa_replay_outcome *o)
{
	struct draw *d = arg;
	uint32_t group = d->past->models[d->past->calls[call->tag].model].group;
	unsigned block = block_of(d->block_ns, call->at);
	struct bsv_group_figures *f = &d->figures[group];

	if (d->past->calls[call->tag].trial)
		return;
	f->n++;
	f->missed += o->missed;
	f->due += call->deadline != BSA_REPLAY_NEVER;
	f->waited_ns += waited_ns(call->at, o->answered, call->deadline, o->fate == BSA_REPLAY_ANSWERED);
	d->blocked[group].n[block]++;
	d->blocked[group].missed[block] += o->missed;
	if (o->fate == BSA_REPLAY_ANSWERED)
		d->failed |= !bsv_blocked_add(&d->blocked[group], block, o->answered - call->at);
}

static void lane_held(void *arg, const struct bsa_replay_call *call, uint32_t lane, uint64_t began, uint64_t ended)
{
	struct draw *d = arg;
	uint32_t group = d->past->models[d->past->calls[call->tag].model].group;

	(void)lane;
	d->figures[group].lane_ns += ended - began;
	d->blocked[group].lane_ns[block_of(d->block_ns, began)] += ended - began;
}

static int draw_by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void conclude_group(struct bsv_blocked *b, struct bsv_group_figures *ret)
{
	double sum = 0;

	ret->served = b->n_latencies;
	ret->p50_ns = ret->p99_ns = ret->mean_ns = BSA_REPLAY_NEVER;
	if (!b->n_latencies)
		return;
	qsort(b->latencies, b->n_latencies, sizeof(*b->latencies), draw_by_number);
	ret->p50_ns = bsv_blocked_percentile(b, 50);
	ret->p99_ns = bsv_blocked_percentile(b, 99);
	for (size_t i = 0; i < b->n_latencies; i++)
		sum += (double)(b->latencies[i] >> BSV_BLOCK_BITS);
	ret->mean_ns = (uint64_t)(sum / (double)b->n_latencies);
}

static void blocked_free(struct bsv_blocked *blocked, size_t n)
{
	for (size_t i = 0; blocked && i < n; i++)
		free(blocked[i].latencies);
	free(blocked);
}

static struct bsa_replay_model *known_models(const struct draw *d)
{
	const struct bsv_past *p = d->past;
	struct bsa_replay_model *models = calloc(p->n_models + 1, sizeof(*models));

	for (size_t i = 0; models && i < p->n_models; i++) {
		const struct bsv_group_change *c = change_of(d, (uint32_t)i);
		double floor = (double)p->models[i].floor_ns / c->speed + (double)c->run_ns;

		models[i] = (struct bsa_replay_model){ .floor_ns = floor > 0 ? (uint64_t)floor : 0,
			                               .estimate_ns = p->models[i].estimate_ns,
			                               .confirmed = p->models[i].confirmed,
			                               .fixed = true };
	}
	return models;
}

/* @ret_blocked: by group, for the caller to free; also after a failure. */
static bool draw_blocked(const struct bsv_past *past, const struct bsv_whatif_change *change, uint64_t seed,
                         struct bsv_group_figures *ret, struct bsv_blocked **ret_blocked)
{
	double rank = seed ? 2 * (double)(seed * LOAD_ORDER % (MOODS + 1) - 1) / (MOODS - 1) - 1 : 0;
	struct draw d = { .past = past,
		          .change = change,
		          .cursors = calloc(past->n_chains + 1, sizeof(*d.cursors)),
		          .blocked = calloc(past->n_groups + 1, sizeof(*d.blocked)),
		          .figures = ret,
		          .seed = seed,
		          .block_ns = block_length(past),
		          /* the factor of all waits for a cpu, the same for all models: 0 to LOAD_MOST */
		          .load = rank > 0 ? 1 + rank * (LOAD_MOST - 1) : 1 + rank };
	struct bsa_replay_model *models = known_models(&d);
	struct bsa_replay replay = { .rules = change ? change->rules : past->rules,
		                     .n_apps = (uint32_t)past->n_apps,
		                     .n_models = (uint32_t)past->n_models + 1,
		                     .n_chains = (uint32_t)past->n_chains,
		                     .models = models };
	struct bsa_replay_source source = { .next = next_call,
		                            .done = call_done,
		                            .held = lane_held,
		                            .hand = hand_over,
		                            .answer = time_to_answer,
		                            .arg = &d };
	bool played;

	assert(seed < BSV_SEEDS);
	if (replay.rules.preempt == SAVE && past->stops.n >= FEWEST_STOPS && !(change && change->step_ns))
		source.stop = time_to_stop;
	replay.rules.deadlines %= 3; /* unknown: there are none */
	memset(ret, 0, past->n_groups * sizeof(*ret));
	played = d.cursors && d.blocked && models && bsa_replay_run(&replay, &source) && !d.failed;
	for (size_t i = 0; d.blocked && i < past->n_groups; i++)
		conclude_group(&d.blocked[i], &ret[i]);
	free(models);
	free(d.cursors);
	*ret_blocked = d.blocked;
	return played;
}

bool bsv_draw(const struct bsv_past *past, const struct bsv_whatif_change *change, uint64_t seed,
              struct bsv_group_figures *ret)
{
	struct bsv_blocked *blocked;
	bool played = draw_blocked(past, change, seed, ret, &blocked);

	blocked_free(blocked, past->n_groups);
	return played;
}

static bool estimate_noise(const struct bsv_past *past, const struct bsv_blocked *blocked, struct bsv_noise *ret)
{
	uint32_t *apps = calloc(past->n_groups + 1, sizeof(*apps));
	bool done;

	for (size_t i = 0; apps && i < past->n_groups; i++)
		apps[i] = past->groups[i].app;
	done = apps && bsv_noise_estimate(ret, blocked, apps, past->n_groups, past->n_apps);
	free(apps);
	return done;
}

bool bsv_draw_noise(const struct bsv_past *past, const struct bsv_whatif_change *change, uint64_t seed,
                    struct bsv_group_figures *ret, struct bsv_noise *ret_noise)
{
	struct bsv_blocked *blocked;
	bool done;

	*ret_noise = (struct bsv_noise){ .groups = NULL };
	done = draw_blocked(past, change, seed, ret, &blocked) && estimate_noise(past, blocked, ret_noise);
	blocked_free(blocked, past->n_groups);
	return done;
}

bool bsv_figures_recorded(const struct bsv_past *past, struct bsv_group_figures *ret, struct bsv_noise *ret_noise)
{
	struct bsv_blocked *blocked = calloc(past->n_groups + 1, sizeof(*blocked));
	bool done;

	if (ret_noise)
		*ret_noise = (struct bsv_noise){ .groups = NULL };
	memset(ret, 0, past->n_groups * sizeof(*ret));
	done = blocked != NULL;
	for (size_t i = 0; done && i < past->n_calls; i++) {
		const struct bsv_past_call *c = &past->calls[i];
		uint32_t group = past->models[c->model].group;
		unsigned block = block_of(block_length(past), c->submitted);

		if (!c->imagined && c->run_ns != BSA_REPLAY_NEVER) {
			ret[group].lane_ns += c->run_ns;
			blocked[group].lane_ns[block] += c->run_ns;
		}
		if (c->trial || c->imagined)
			continue;
		ret[group].n++;
		ret[group].missed += c->missed;
		ret[group].due += c->deadline != BSA_REPLAY_NEVER;
		ret[group].waited_ns += waited_ns(c->submitted, c->answered, c->deadline, c->served);
		blocked[group].n[block]++;
		blocked[group].missed[block] += c->missed;
		if (c->served)
			done = bsv_blocked_add(&blocked[group], block, c->answered - c->submitted);
	}
	for (size_t i = 0; blocked && i < past->n_groups; i++)
		conclude_group(&blocked[i], &ret[i]);
	done = done && (!ret_noise || estimate_noise(past, blocked, ret_noise));
	blocked_free(blocked, past->n_groups);
	return done;
}
