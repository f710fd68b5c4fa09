/* bounds.c -- computes for each call of a replay how early and how late its times can be. */
#include "replay/bounds.h"

struct range {
	uint64_t least, most;
};

struct search {
	struct bsa_bounds_call *calls;
	const uint32_t *order;
	struct range lane; /* the lane is free */
	/*
	 * The latest time at which a call so far can have asked for the lane; and of those of which that time
	 * is not exact.
	 */
	uint64_t asked, asked_about;
	uint64_t known; /* decisions are the same up to here */
};

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t rest_of(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static struct range range_around(uint64_t at, uint64_t early, uint64_t late)
{
	return (struct range){ rest_of(at, early), sum_of(at, late) };
}

static bool is_exact(struct range r)
{
	return r.least == r.most;
}

static void unknown_from(struct search *s, uint64_t at)
{
	s->known = at < s->known ? at : s->known;
}

/* ---- submission ---- */

/*
 * The first decides of calls that are submitted beside each other. The call before it was answered, and has its
 * bounds.
 */
static void bound_submission(struct search *s, struct bsa_bounds_call *c)
{
	const struct bsa_bounds_call *first = c, *before, *awaited;
	struct range answered;
	uint64_t at;

	/* A call comes at its own time, unless its thread still waits then to submit the one before it. */
	if (c->comes == BSA_COMES_AT && c->before != BSA_BOUNDS_FIRST) {
		before = &s->calls[c->before];
		at = before->at;
		if (before->comes == BSA_COMES_NOT_LESS) {
			awaited = &s->calls[before->before];
			at = bsa_later_of(at, sum_of(awaited->answered, awaited->ret_late));
		}
		if (at > c->at)
			unknown_from(s, c->at);
	}

	while (first->comes == BSA_COMES_BESIDE)
		first = &s->calls[first->before];
	c->ret_at_early = c->ret_at_late = 0;
	if (first->comes == BSA_COMES_AT)
		return;
	before = &s->calls[first->before];
	answered = range_around(before->answered, before->ret_early, before->ret_late);
	if (first->comes == BSA_COMES_AFTER) {
		c->ret_at_early = before->ret_early;
		c->ret_at_late = before->ret_late;
	} else { /* its own time, or that of the answer, where that is later */
		c->ret_at_early = before->answered < first->at ? 0 : rest_of(first->at, answered.least);
		c->ret_at_late = rest_of(answered.most, first->at);
	}
}

/* A time that may depend on the submission of @c. */
static struct range moved(const struct bsa_bounds_call *c, uint64_t at)
{
	if (at == BSA_BOUNDS_NEVER || !c->moves)
		return (struct range){ at, at };
	return range_around(at, c->ret_at_early, c->ret_at_late);
}

/* ---- admission ---- */

/*
 * Whether the service decides the same about call number @nth of the order wherever in its bounds everything
 * is. It adds up what it expects those to take that are there, so that what it adds up is never more than the
 * sum over all that can be.
 */
static bool is_admission_certain(const struct search *s, size_t nth)
{
	const struct bsa_bounds_call *c = &s->calls[s->order[nth]];
	struct range looked = range_around(c->looked, c->ret_at_early, c->ret_at_late),
		     deadline = moved(c, c->deadline);
	bool exact = is_exact(looked);
	uint64_t needs = c->least;

	if (c->until == BSA_BOUNDS_NEVER)
		return true;
	for (size_t i = nth; i--;) {
		const struct bsa_bounds_call *x = &s->calls[s->order[i]];
		struct range ready = range_around(x->ready, x->ret_at_early, x->ret_at_late);

		if (x->taken || x->ready == BSA_BOUNDS_NEVER)
			continue;
		if (sum_of(x->ended, x->ret_end_late) < looked.least) {
			if (x->began != BSA_BOUNDS_NEVER)
				break; /* all before it had ended, too */
			continue;
		}
		exact &= !x->ret_end_early && !x->ret_end_late;
		if (!is_exact(ready) && ready.least <= looked.most && ready.most >= looked.least)
			exact = false; /* the call may have asked for the lane at that time, or may not */
		needs = sum_of(needs, x->least);
	}
	return exact || (c->ready != BSA_BOUNDS_NEVER && sum_of(looked.most, needs) <= deadline.least);
}

/* ---- the lane ---- */

static void end_between(struct bsa_bounds_call *c, struct range ended, uint64_t answer_less, uint64_t answer_more)
{
	c->ret_end_early = rest_of(c->ended, ended.least);
	c->ret_end_late = rest_of(ended.most, c->ended);
	c->ret_early = c->ret_end_early + answer_less;
	c->ret_late = c->ret_end_late + answer_more;
}

/* The call gets the lane in the replay, and runs to its end. @hand: how long the hand-over can take. */
static void bound_served(struct search *s, struct bsa_bounds_call *c, struct range given, struct range hand,
                         struct range until)
{
	struct range deadline = moved(c, c->deadline);
	uint64_t at = c->began - c->hand;
	struct range ended = range_around(c->ended, rest_of(at, given.least) + (c->hand - hand.least) + c->run_less,
	                                  rest_of(given.most, at) + (hand.most - c->hand) + c->run_more);
	bool exact = is_exact(given) && is_exact(until) && is_exact(hand);
	bool begins = exact || until.least == BSA_BOUNDS_NEVER || sum_of(given.most, hand.most) < until.least;
	bool ends = !c->can_abort || (is_exact(ended) && is_exact(deadline)) || ended.most <= deadline.least;

	if (!begins || !ends)
		unknown_from(s, given.least);
	s->lane = ended;
	end_between(c, ended, c->answer_less, c->answer_more);
}

static void bound_call(struct search *s, size_t nth)
{
	struct bsa_bounds_call *c = &s->calls[s->order[nth]];
	struct range ready, given, hand, until;
	bool certain, may_be_idle;

	bound_submission(s, c);
	if (!c->taken && !is_admission_certain(s, nth))
		unknown_from(s, rest_of(c->looked, c->ret_at_early));
	ready = range_around(bsa_bounds_asks(c), c->ret_at_early, c->ret_at_late);

	/*
	 * The one before it may ask for the lane later. At the same time, too, each of them may be first: their order
	 * is that in which they had the lane, and one that was given up had none.
	 */
	if (!c->taken) {
		if (is_exact(ready) && c->began != BSA_BOUNDS_NEVER ? ready.least <= s->asked_about
		                                                    : ready.least <= s->asked)
			unknown_from(s, ready.least);
		s->asked = bsa_later_of(s->asked, ready.most);
		if (!is_exact(ready))
			s->asked_about = bsa_later_of(s->asked_about, ready.most);
	}
	if (c->taken || c->ready == BSA_BOUNDS_NEVER) {
		end_between(c, ready, 0, 0);
		return;
	}

	given = (struct range){ bsa_later_of(s->lane.least, ready.least), bsa_later_of(s->lane.most, ready.most) };
	may_be_idle = s->lane.least <= ready.most;
	hand = range_around(c->hand, bsa_later_of(c->hand_less, may_be_idle ? c->idle_less : 0),
	                    bsa_later_of(c->hand_more, may_be_idle ? c->idle_more : 0));
	until = moved(c, c->until);
	if (c->began == BSA_BOUNDS_NEVER) { /* given up while it waits, or at once where it asks for a lane too late */
		if (is_exact(given) && is_exact(until) ? given.least < until.least
		                                       : given.least <= until.most || may_be_idle)
			unknown_from(s, given.least);
		end_between(
			c,
			(struct range){ bsa_later_of(until.least, ready.least), bsa_later_of(until.most, ready.most) },
			0, 0);
	} else if (c->served) {
		bound_served(s, c, given, hand, until);
	} else { /* given up at a checkpoint, or because it was too late when it began */
		/* The service's expectation of the rest of its run depends on how long the whole is. */
		certain = c->as_recorded ||
		          ((!c->least || (!c->run_less && !c->run_more)) && c->ended - c->began <= c->run_least);
		if (!certain || !is_exact(given) || !is_exact(until) || !is_exact(hand))
			unknown_from(s, given.least);
		s->lane = (struct range){ c->ended, c->ended };
		end_between(c, s->lane, 0, 0);
	}
}

uint64_t bsa_bounds_asks(const struct bsa_bounds_call *call)
{
	return call->taken ? call->at : call->ready == BSA_BOUNDS_NEVER ? call->looked : call->ready;
}

uint64_t bsa_bounds_find(struct bsa_bounds_call *calls, const uint32_t *order, size_t n)
{
	struct search s = { .calls = calls, .order = order, .known = BSA_BOUNDS_NEVER };

	for (size_t i = 0; i < n; i++)
		bound_call(&s, i);
	return s.known;
}
