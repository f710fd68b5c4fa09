/* sharing.c -- replays the recorded arrivals of one service, part by part, under ideal fair sharing. */
#include "replay/sharing.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "replay/replay.h"

enum {
	FAIR = 0, /* bsa_replay_rules.policy */
	STEPS_MOST = 1024,
	PART_LEAST = 256, /* executions, where nothing is ready behind them; */
	PART_MOST = 8192, /* limit of the calls of a part, even if the queue never becomes empty */
	READY_MOST = 2048,
	KEPT = 65536,       /* responses of an app, for its percentiles */
	ENOUGH = 8,         /* calls behind others, to find out whether a chain has times of its own */
	BESIDE_MOST = 1000, /* limit of threads that are searched */
};

#define LONGEST_NS (UINT64_C(1) << 61) /* limit of a time, and of the sum of all runs, so that both can be added */
#define NONE UINT32_MAX

/*
 * The replays: each part with USUAL lane times, and with the others if a deadline was missed in it or there; with usual
 * ones, but WITHOUT what was refused, if some of that takes a lane; and each app that missed a deadline ALONE, under
 * the recorded policy, with the most lane time.
 */
enum needs { USUAL, LEAST, MOST, NEEDS, WITHOUT = NEEDS, ALONE, REPLAYS };

/* Whether a call is off its last lane by its deadline in a replay. */
enum { LATE, IN_TIME, IN_TIME_WITH_A_QUARTER_TO_SPARE };

/* An execution of the part. */
struct call {
	struct bsa_sharing_call is;
	uint64_t *steps; /* owned, while it is under way */
	uint64_t run;    /* their sum */
	struct stay {
		uint64_t at, ended; /* ready, and off its last lane */
	} usual, without;           /* in these replays */
	uint32_t next;              /* the next one of its chain; NONE: this is the last one */
	uint32_t n_steps;
	uint8_t punctual[REPLAYS];
};

/* The executions of a thread in the part: each was ready after the one before had ended. */
struct chain {
	struct bsa_entry entry;             /* the stream, in its first chain */
	uint32_t first, next, last, before; /* before: the one that was played last; NONE */
	uint32_t beside;                    /* another chain of the stream; NONE */
	bool is_open;                       /* its calls come at times of their own, whenever answers do */
};

/* A chain of an app. */
struct owned {
	uint32_t app, chain;
};

struct responses {
	uint64_t *is, *ideal, *without; /* owned; ideal: in the replay of usual lane times */
	size_t n, room;
	uint64_t seen, every; /* one of so many is kept; 0: each */
};

struct account {
	struct responses responses;
	double sum, ideal_sum, without_sum;
	uint64_t until; /* an execution was ready, as recorded, until then */
};

struct play {
	const struct bsa_sharing *terms;
	struct bsa_sharing_app *apps;
	struct account *accounts;
	struct call *calls;
	struct chain *chains;
	struct bsa_table streams; /* of the first chains of streams */
	struct owned *owned;      /* all chains, by app */
	uint32_t first_owned;     /* ALONE: of the app that is played */
	uint32_t n, n_chains, under_way;
	uint64_t *gaps, *thinks; /* scratch, PART_MOST each */
	uint64_t total;          /* all time on lanes */
	enum needs needs;        /* kind of the replay */
	uint64_t lacks_until;    /* the replay lacks a thread that asked for more in the recording: see next_call */
	bool missed;             /* a deadline was, in the part, as recorded or with usual lane times */
	bool refused_runs;       /* an execution of the part that was refused takes a lane */
	bool any_refused_runs;   /* in any part */
	bool unknown;            /* there is no bound of the lane time that an execution of the part needed */
	int code;
};

static int play_fail(struct play *p, int code)
{
	p->code = p->code ? p->code : code;
	return p->code;
}

static uint64_t at_most(uint64_t ns, uint64_t most)
{
	return ns < most ? ns : most;
}

static uint64_t call_end_of(const struct bsa_sharing_call *c)
{
	return c->ready + c->response;
}

/* When it ended, in the recording. */
static uint64_t thread_free_at(const struct bsa_sharing_call *c)
{
	return call_end_of(c) + c->stalled_most;
}

/* ---- steps ---- */

static bool was_given_up(const struct bsa_sharing_call *c)
{
	return c->given_up || c->refused;
}

/* Add @ns to the call's steps, in @pieces of one length at equal distances. */
static void add_pieces(struct call *call, uint64_t ns, uint64_t pieces)
{
	for (uint64_t i = 0; i < pieces; i++)
		call->steps[(i + 1) * call->n_steps / (pieces + 1)] += ns / pieces + (i < ns % pieces);
}

/* For how long it needs a lane. */
static uint64_t need_of(const struct bsa_sharing_call *c, enum needs needs)
{
	const uint64_t need[REPLAYS] = { [USUAL] = c->usual,
		                         [LEAST] = c->need_least,
		                         [MOST] = c->need_most,
		                         [WITHOUT] = c->usual,
		                         [ALONE] = c->need_most };
	uint64_t ns = need[needs];

	return at_most(was_given_up(c) && !c->stalled_to_its_end && c->run < ns ? ns : c->run, LONGEST_NS);
}

static uint64_t budget_of(const struct bsa_sharing_call *c)
{
	return c->deadline > c->ready ? c->deadline - c->ready : 0;
}

/* The part of its budget for which it wants no lane. */
static uint64_t stall_of(const struct bsa_sharing_call *c, enum needs needs)
{
	return needs == LEAST ? c->stalled : c->stalled_most;
}

/*
 * How long after it is ready the replay gives it up, stalls aside. Not before the service did, where that was after
 * the deadline: it did not look at its clock before.
 */
static uint64_t given_up_after(const struct bsa_sharing_call *c, enum needs needs)
{
	uint64_t stall = c->stalled_to_its_end ? 0 : stall_of(c, needs), budget = budget_of(c);

	budget -= stall < budget ? stall : budget;
	return was_given_up(c) && c->response > budget ? c->response : budget;
}

/*
 * Cut the call's run into steps, some of which are longer by a hand-over or by a time without a CPU. False: no
 * memory.
 */
static bool cut_in_steps(struct call *call, uint64_t stall, enum needs needs)
{
	const struct bsa_sharing_call *c = &call->is;
	uint64_t run = need_of(c, needs), off = at_most(c->off, run), hand = at_most(c->hand, LONGEST_NS);
	uint64_t work = run - off, step = work, left = work, longest;
	/* A step of its model takes longer where the run did. */
	double slower = c->usual && work > c->usual ? (double)work / (double)c->usual : 1;
	double usual_step = (double)c->step * slower;
	uint32_t n;

	if (c->step && usual_step < (double)work)
		step = work / STEPS_MOST > (uint64_t)usual_step ? work / STEPS_MOST + 1 : (uint64_t)usual_step;
	n = step ? (uint32_t)(work / step + (work % step != 0)) : 1;
	n = n ? n : 1;
	call->steps = calloc(n, sizeof(*call->steps));
	if (!call->steps)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		call->steps[i] = i + 1 < n ? step : left;
		assert(call->steps[i] <= left);
		left -= call->steps[i];
	}
	call->n_steps = n;
	call->run = hand + run;
	/* The longest hand-over comes before the first step: most calls have no other one. */
	longest = c->n_hands > 1 ? at_most(c->hand_most, hand) : hand;
	call->steps[0] += longest;
	add_pieces(call, hand - longest, c->n_hands > 1 ? c->n_hands - 1 : 0);
	/* When it had no cpu is not known: with the least, never for so long that others notice. */
	add_pieces(call, off, needs == LEAST ? n : stall ? at_most(off / stall + (off % stall != 0), n) : 1);
	return true;
}

/* ---- arrivals ---- */

static int sharing_by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* From the first to the third quartile. */
static uint64_t spread_of(uint64_t *ns, size_t n)
{
	qsort(ns, n, sizeof(*ns), sharing_by_number);
	return ns[3 * n / 4] - ns[n / 4];
}

/*
 * The distance of a call from the answer before varies no less than its distance from the call before: then
 * the chain has times of its own, as that of a camera has. A stall can make an answer so late that the next
 * call comes right behind it, and does not come of it.
 */
static bool is_open(struct play *p, const struct chain *chain)
{
	const struct bsa_sharing_call *before = NULL;
	size_t n = 0;

	for (uint32_t i = chain->first; i != NONE; i = p->calls[i].next) {
		const struct bsa_sharing_call *c = &p->calls[i].is;

		if (before && !before->refused && c->ready >= call_end_of(before)) {
			p->gaps[n] = c->ready - before->ready;
			p->thinks[n++] = c->ready - call_end_of(before);
		}
		before = c;
	}
	return n >= ENOUGH && spread_of(p->thinks, n) >= spread_of(p->gaps, n);
}

/* When @c is ready, that follows @before in its chain; @now: its turn has come. */
static uint64_t ready_at(const struct bsa_sharing_call *c, const struct bsa_sharing_call *before, uint64_t now,
                         bool open)
{
	uint64_t think;

	if (!before)
		return c->ready;
	think = c->ready - call_end_of(before);
	if (!open && think < before->response)
		return now + think;
	return c->ready > now ? c->ready : now;
}

static bool next_call(void *arg, uint32_t number, uint64_t now, struct bsa_replay_call *ret)
{
	struct play *p = arg;
	struct chain *chain = &p->chains[p->needs == ALONE ? p->owned[p->first_owned + number].chain : number];
	struct call *c, *before = chain->before == NONE ? NULL : &p->calls[chain->before];
	uint64_t at, budget, lasts, there_until;
	bool refused;

	/*
	 * A thread that waited for the answer before, until now in the replay, was not refused what it would
	 * have asked for meanwhile.
	 */
	while (before && chain->next != NONE && p->calls[chain->next].is.refused &&
	       p->calls[chain->next].is.ready < now)
		chain->next = p->calls[chain->next].next;
	/*
	 * A thread that has all its answers sooner than in the recording would have asked for more. The replay
	 * lacks that load for as long as the thread was there. Who asked once may not have asked again.
	 */
	there_until = thread_free_at(&p->calls[chain->last].is);
	if (chain->next == NONE && chain->first != chain->last && !chain->is_open && there_until > now &&
	    there_until > p->lacks_until)
		p->lacks_until = there_until;
	if (chain->next == NONE || p->code)
		return false;
	c = &p->calls[chain->next];
	if (!cut_in_steps(c, p->terms->stall, p->needs)) {
		play_fail(p, BSA_SHARING_NO_MEMORY);
		return false;
	}
	/*
	 * A call that was refused, and would not have met its deadline on a free lane either: a fair service
	 * refuses it, too. With the most lane time, it must be so with the least, because otherwise it may
	 * have taken a lane.
	 */
	budget = budget_of(&c->is);
	refused = c->is.refused && (p->needs == WITHOUT || need_of(&c->is, p->needs == USUAL ? USUAL : LEAST) > budget);
	p->refused_runs |= c->is.refused && !refused;
	p->total += refused ? 0 : c->run;
	if (p->total > LONGEST_NS || ++p->under_way > READY_MOST) { /* more than there can have been */
		play_fail(p, BSA_SHARING_TOO_MANY);
		return false;
	}
	at = ready_at(&c->is, before ? &before->is : NULL, now, chain->is_open);
	chain->before = chain->next;
	chain->next = c->next;
	lasts = given_up_after(&c->is, p->needs);
	/*
	 * In a chain with times of its own the next call comes as well where this one waits longer in the
	 * replay than until it was given up.
	 */
	*ret = (struct bsa_replay_call){ .at = at,
		                         .deadline = c->is.deadline == UINT64_MAX || lasts >= BSA_REPLAY_NEVER - at
		                                             ? BSA_REPLAY_NEVER
		                                             : at + lasts,
		                         .run_ns = c->run,
		                         .least_ns = refused ? BSA_REPLAY_NEVER : 0,
		                         .advised = c->is.answered,
		                         .steps = c->steps,
		                         .n_steps = c->n_steps,
		                         .app = p->needs == ALONE ? 0 : c->is.app,
		                         .priority = c->is.priority,
		                         .tag = (uint32_t)(c - p->calls),
		                         .apart = c->next != NONE && chain->is_open && !c->is.answered &&
		                                  !c->is.refused };
	return true;
}

/* ---- responses ---- */

/* False: no memory. */
static bool add_response(struct responses *r, uint64_t is, uint64_t ideal, uint64_t without)
{
	if (r->n == KEPT) { /* keep every second one */
		for (size_t i = 0; i < r->n / 2; i++) {
			r->is[i] = r->is[2 * i];
			r->ideal[i] = r->ideal[2 * i];
			r->without[i] = r->without[2 * i];
		}
		r->n /= 2;
		r->every = r->every ? 2 * r->every : 2;
	}
	if (r->seen++ % (r->every ? r->every : 1))
		return true;
	if (r->n == r->room) {
		uint64_t **arrays[] = { &r->is, &r->ideal, &r->without }, *more;
		size_t room = r->room ? 2 * r->room : 16;

		for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
			more = reallocarray(*arrays[i], room, sizeof(*more));
			if (!more)
				return false;
			*arrays[i] = more;
		}
		r->room = room;
	}
	r->is[r->n] = is;
	r->without[r->n] = without;
	r->ideal[r->n++] = ideal;
	return true;
}

/* ---- deadlines ---- */

/* The verdict on its app includes whether it met its deadline. */
static bool is_due(const struct bsa_sharing_call *c)
{
	return c->asked && c->deadline != UINT64_MAX && (c->answered || c->left || was_given_up(c));
}

static bool is_met(const struct bsa_sharing_call *c)
{
	return c->answered && c->response <= budget_of(c) && c->stalled_most <= budget_of(c) - c->response;
}

/* Add what became of the deadlines of the part, in all replays of it. */
static void add_deadlines(struct play *p, const bool played[NEEDS])
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct call *c = &p->calls[i];
		struct bsa_sharing_app *app = &p->apps[c->is.app];
		uint64_t alone = c->is.response - at_most(c->is.waited, c->is.response), budget = budget_of(&c->is);
		/* It was refused, or would have been in time if it had not waited. */
		bool is_of_others =
			c->is.refused || (c->is.waited && alone <= budget && c->is.stalled_most <= budget - alone);
		enum needs least = p->missed && !p->unknown ? LEAST : USUAL;
		bool sure = !p->unknown && (played[MOST] || !p->missed);
		bool perhaps = !played[least] || c->punctual[least] != LATE;

		if (!is_due(&c->is))
			continue;
		for (int needs = 0; needs < NEEDS; needs++)
			sure &= !played[needs] || c->punctual[needs] == IN_TIME_WITH_A_QUARTER_TO_SPARE;
		/* What its app alone would have missed, too, is no other app's doing. */
		sure &= is_met(&c->is) || (!c->is.stalled_to_its_end && is_of_others && c->punctual[ALONE] != LATE);
		perhaps |= sure;
		app->due++;
		app->met += is_met(&c->is);
		app->ideal_met_least += sure;
		app->ideal_met_most += perhaps;
	}
}

static void call_done(void *arg, const struct bsa_replay_call *call, const struct bsa_replay_outcome *o)
{
	struct play *p = arg;
	struct call *c = &p->calls[call->tag];
	uint64_t budget = budget_of(&c->is); /* the call has as long as it had after it was ready */
	uint64_t ideal = o->ended - call->at, all = ideal + stall_of(&c->is, p->needs);

	assert(p->under_way > 0 && c->steps); /* a call ends once */
	p->under_way--;
	free(c->steps);
	c->steps = NULL;
	if (p->needs == USUAL)
		c->usual = (struct stay){ call->at, o->ended };
	if (p->needs == WITHOUT)
		c->without = (struct stay){ call->at, o->ended };
	else if (o->fate != BSA_REPLAY_ANSWERED || all > budget)
		c->punctual[p->needs] = LATE;
	else
		c->punctual[p->needs] = all / 4 <= budget - all && call->at >= p->lacks_until
		                                ? IN_TIME_WITH_A_QUARTER_TO_SPARE
		                                : IN_TIME;
}

/* ---- parts ---- */

/*
 * The chain of the stream of @c whose thread became free last: the one before @c ended there. A new one, if no thread
 * of the stream is free.
 */
static struct chain *chain_of(struct play *p, const struct bsa_sharing_call *c)
{
	struct chain *first = bsa_table_find(&p->streams, c->stream), *next = first, *chain = NULL;
	uint64_t latest = 0;

	for (unsigned looks = 0; next && looks < BESIDE_MOST; looks++) {
		const struct bsa_sharing_call *last = &p->calls[next->last].is;
		uint64_t ended = thread_free_at(last);

		if (ended <= c->ready && (!chain || ended > latest)) {
			chain = next;
			latest = ended;
		}
		next = next->beside == NONE ? NULL : &p->chains[next->beside];
	}
	if (chain)
		return chain;
	chain = &p->chains[p->n_chains++];
	*chain = (struct chain){ .first = NONE, .last = NONE, .beside = NONE };
	if (!first) {
		bsa_table_add(&p->streams, &chain->entry, c->stream);
		return chain;
	}
	chain->beside = first->beside;
	first->beside = (uint32_t)(chain - p->chains);
	return chain;
}

/* Add the responses of the part, which is over. */
static void add_responses(struct play *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct call *c = &p->calls[i];
		struct account *a = &p->accounts[c->is.app];
		uint64_t ideal = c->usual.ended - c->usual.at, without = c->without.ended - c->without.at;

		if (!c->is.asked || !c->is.answered)
			continue;
		p->apps[c->is.app].n++;
		a->sum += (double)c->is.response;
		a->ideal_sum += (double)ideal;
		a->without_sum += (double)without;
		if (!add_response(&a->responses, c->is.response, ideal, without))
			play_fail(p, BSA_SHARING_NO_MEMORY);
	}
}

static int by_app_and_time(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->is.app != y->is.app)
		return x->is.app < y->is.app ? -1 : 1;
	return x->usual.at < y->usual.at ? -1 : x->usual.at > y->usual.at;
}

static int by_app_and_time_without(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->is.app != y->is.app)
		return x->is.app < y->is.app ? -1 : 1;
	return x->without.at < y->without.at ? -1 : x->without.at > y->without.at;
}

/* Add the ideal lane time of the part, which is over, in the replay @needs. */
static void add_ideal_work(struct play *p, enum needs needs)
{
	uint64_t until = 0;

	qsort(p->calls, p->n, sizeof(*p->calls), needs == WITHOUT ? by_app_and_time_without : by_app_and_time);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct call *c = &p->calls[i];
		const struct stay *stay = needs == WITHOUT ? &c->without : &c->usual;
		struct bsa_sharing_app *app = &p->apps[c->is.app];

		if (i && c->is.app != p->calls[i - 1].is.app)
			until = 0;
		if (!c->is.asked || c->is.refused || stay->ended <= until)
			continue;
		*(needs == WITHOUT ? &app->ideal_work_without_ns : &app->ideal_work_ns) +=
			stay->ended - (stay->at > until ? stay->at : until);
		until = stay->ended;
	}
}

/* Replay the part once, or @n_chains of an app from p->first_owned on. */
static void play_calls(struct play *p, enum needs needs, uint32_t n_chains)
{
	const struct bsa_replay_model unknown = { 0 };
	const struct bsa_replay replay = { .rules = { .policy = needs == ALONE ? p->terms->policy : FAIR,
		                                      .preempt = p->terms->preempt,
		                                      .deadlines = p->terms->deadlines,
		                                      .lanes = p->terms->lanes },
		                           .recorded = true,
		                           .n_apps = needs == ALONE ? 1 : p->terms->n_apps,
		                           .n_models = 1,
		                           .n_chains = n_chains,
		                           .models = &unknown };
	const struct bsa_replay_source source = { .next = next_call, .done = call_done, .arg = p };

	p->needs = needs;
	p->under_way = 0;
	p->lacks_until = 0;
	for (uint32_t i = 0; i < n_chains; i++) {
		struct chain *chain = &p->chains[needs == ALONE ? p->owned[p->first_owned + i].chain : i];

		chain->next = chain->first;
		chain->before = NONE;
	}
	if (!bsa_replay_run(&replay, &source))
		play_fail(p, BSA_SHARING_NO_MEMORY);
	for (uint32_t i = 0; p->code && i < p->n; i++) {
		free(p->calls[i].steps);
		p->calls[i].steps = NULL;
	}
}

/*
 * Replay the part with other lane times of what was given up, or without what was refused, or without other apps.
 * False: not all of it, because too many were ready at a time.
 */
static bool play_other_needs(struct play *p, enum needs needs, uint32_t n_chains)
{
	uint64_t total = p->total;

	if (p->code)
		return false;
	play_calls(p, needs, n_chains);
	p->total = total;
	if (p->code != BSA_SHARING_TOO_MANY)
		return !p->code;
	p->code = BSA_SHARING_DONE;
	return false;
}

static int sharing_by_owner(const void *a, const void *b)
{
	const struct owned *x = a, *y = b;

	if (x->app != y->app)
		return x->app < y->app ? -1 : 1;
	return x->chain < y->chain ? -1 : x->chain > y->chain;
}

/* Replay each app that missed a deadline as if there were no other one. */
static void play_alone(struct play *p)
{
	uint32_t next;

	for (uint32_t i = 0; i < p->n_chains; i++)
		p->owned[i] = (struct owned){ p->calls[p->chains[i].first].is.app, i };
	qsort(p->owned, p->n_chains, sizeof(*p->owned), sharing_by_owner);
	for (p->first_owned = 0; p->first_owned < p->n_chains; p->first_owned = next) {
		bool missed = false;

		for (next = p->first_owned; next < p->n_chains && p->owned[next].app == p->owned[p->first_owned].app;
		     next++)
			for (uint32_t i = p->chains[p->owned[next].chain].first; i != NONE; i = p->calls[i].next)
				missed |= is_due(&p->calls[i].is) && !is_met(&p->calls[i].is);
		if (missed)
			play_other_needs(p, ALONE, next - p->first_owned);
	}
}

static void play_part(struct play *p)
{
	bool played[NEEDS] = { true };

	for (uint32_t i = 0; i < p->n_chains; i++)
		p->chains[i].is_open = is_open(p, &p->chains[i]);
	play_calls(p, USUAL, p->n_chains);
	for (uint32_t i = 0; i < p->n; i++)
		p->missed |= is_due(&p->calls[i].is) && p->calls[i].punctual[USUAL] == LATE;
	for (int needs = LEAST; needs < NEEDS; needs++)
		played[needs] = p->missed && play_other_needs(p, needs, p->n_chains);
	if (p->missed && !p->unknown)
		play_alone(p);

	/*
	 * Where none of what was refused takes a lane, or not all can be replayed, the replay of usual lane
	 * times stands for it.
	 */
	p->any_refused_runs |= p->refused_runs;
	if (!p->refused_runs || !play_other_needs(p, WITHOUT, p->n_chains))
		for (uint32_t i = 0; i < p->n; i++)
			p->calls[i].without = p->calls[i].usual;

	if (!p->code) {
		add_responses(p);
		add_deadlines(p, played);
		add_ideal_work(p, USUAL);
		add_ideal_work(p, WITHOUT);
	}
	bsa_table_clear(&p->streams);
	p->n = p->n_chains = 0;
	p->missed = p->unknown = p->refused_runs = false;
}

static void play_all(struct play *p)
{
	struct bsa_sharing_call c;
	struct bsa_sharing_app *app;
	struct account *a;
	struct chain *chain;
	uint64_t ends, until = 0; /* some call was ready until then */
	int r;

	while (!p->code && (r = p->terms->next(p->terms->arg, &c)) != 0) {
		if (r < 0) {
			play_fail(p, BSA_SHARING_FAILED);
			return;
		}
		c.ready = at_most(c.ready, LONGEST_NS);
		c.response = at_most(c.response, LONGEST_NS);
		c.stalled = at_most(c.stalled, LONGEST_NS);
		c.stalled_most = at_most(c.stalled_most, LONGEST_NS);
		if (p->n == PART_MOST || (p->n >= PART_LEAST && c.ready > until))
			play_part(p);

		/* Append the call to its chain. */
		chain = chain_of(p, &c);
		p->calls[p->n] = (struct call){ .is = c, .next = NONE };
		if (chain->last == NONE)
			chain->first = p->n;
		else
			p->calls[chain->last].next = p->n;
		chain->last = p->n++;
		p->missed |= is_due(&c) && !is_met(&c);
		p->unknown |= was_given_up(&c) && !c.need_most;

		/* Add its work to that of its app. */
		app = &p->apps[c.app];
		a = &p->accounts[c.app];
		ends = call_end_of(&c);
		app->played++;
		app->received_ns += c.asked && !c.refused ? c.run : 0;
		if (c.asked && !c.refused && ends > a->until) {
			app->work_ns += ends - (c.ready > a->until ? c.ready : a->until);
			a->until = ends;
		}
		until = ends > until ? ends : until;
	}
	if (!p->code && p->n)
		play_part(p);
}

/* ---- the whole ---- */

static uint64_t percentile_95(uint64_t *ns, size_t n)
{
	if (!n)
		return 0;
	qsort(ns, n, sizeof(*ns), sharing_by_number);
	return ns[(n * 95 + 99) / 100 - 1];
}

/*
 * @ns is sorted. Returns the value with k larger ones, where k is the least number for which chance puts more
 * than k of @n executions beyond the true p95 in 1 of 100 recordings or fewer, if each of them is beyond it
 * with a chance of 5 %, whatever the others are. 0: there are not so many values.
 */
static uint64_t least_percentile_95(const uint64_t *ns, size_t n)
{
	double p = (double)n * log(0.95), fewer = 0; /* p: logarithm, because it may be too small for a double */
	size_t k = 0;

	while (k < n && (fewer += exp(p)) < 0.99) {
		p += log((double)(n - k) / (double)(k + 1) * (0.05 / 0.95));
		k++;
	}
	return k < n ? ns[n - k - 1] : 0;
}

static void conclude_apps(struct play *p)
{
	for (uint32_t i = 0; i < p->terms->n_apps; i++) {
		struct bsa_sharing_app *app = &p->apps[i];
		struct account *a = &p->accounts[i];

		app->refused_runs = p->any_refused_runs;
		if (!app->n)
			continue;
		app->mean_ns = a->sum / (double)app->n;
		app->ideal_mean_ns = a->ideal_sum / (double)app->n;
		app->ideal_mean_without_ns = a->without_sum / (double)app->n;
		app->p95_ns = percentile_95(a->responses.is, a->responses.n);
		app->p95_least_ns = least_percentile_95(a->responses.is, a->responses.n);
		app->ideal_p95_ns = percentile_95(a->responses.ideal, a->responses.n);
		app->ideal_p95_without_ns = percentile_95(a->responses.without, a->responses.n);
	}
}

int bsa_sharing_run(const struct bsa_sharing *sharing, struct bsa_sharing_app *ret)
{
	struct play p = { .terms = sharing,
		          .apps = ret,
		          .accounts = calloc(sharing->n_apps + (size_t)1, sizeof(*p.accounts)),
		          .calls = calloc(PART_MOST, sizeof(*p.calls)),
		          .chains = calloc(PART_MOST, sizeof(*p.chains)),
		          .owned = calloc(PART_MOST, sizeof(*p.owned)),
		          .gaps = calloc(PART_MOST, sizeof(*p.gaps)),
		          .thinks = calloc(PART_MOST, sizeof(*p.thinks)) };

	memset(ret, 0, sharing->n_apps * sizeof(*ret));
	if (p.accounts && p.calls && p.chains && p.owned && p.gaps && p.thinks && !bsa_table_init(&p.streams))
		play_all(&p);
	else
		play_fail(&p, BSA_SHARING_NO_MEMORY);
	if (!p.code)
		conclude_apps(&p);
	for (uint32_t i = 0; p.accounts && i < sharing->n_apps; i++) {
		free(p.accounts[i].responses.is);
		free(p.accounts[i].responses.ideal);
		free(p.accounts[i].responses.without);
	}
	free(p.accounts);
	free(p.calls);
	free(p.chains);
	free(p.owned);
	bsa_table_fini(&p.streams);
	free(p.gaps);
	free(p.thinks);
	return p.code;
}
