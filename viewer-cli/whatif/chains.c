/*
 * chains.c -- finds chains: calls of one app, model and path that one thread submits one after the other.
 *
 * A chain is open if its deadlines show when a call was due: the time from due to deadline is the
 * usual one, and the submission was as much later as the thread had to wait. Otherwise a chain is
 * closed if the time from an answer to the next call varies less than the time between calls. Calls
 * that were due and left out while the thread of an open chain waited are added again: under other
 * rules the thread may have time for them.
 */
#include "whatif/past.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum {
	ENOUGH = 8, /* calls needed to find the kind of a chain */
	/*
	 * spread of the time left until the deadline: if it is no smaller, deadlines were set when
	 * the calls were due
	 */
	SPREAD_NS = 60000,
	PATH_FENCED = 2,
	BESIDE_MOST = 1000,     /* limit of threads that are searched */
	IMAGINED_MOST = 100000, /* limit of imagined calls, in addition to the number of recorded ones */
	PARTS = 64,             /* parts of a period */
	FRAMES_FEWEST = 48,     /* calls needed to find frames that come at uneven times */
	FRAMES_FIT = 256,       /* calls with which all periods are tried */
	LONGER_MOST = 256,      /* times as long as those calls: of longer chains no period is searched, either */
	FRAMES_MOST = 16384,    /* calls of a chain: of longer ones no period is searched */
	FITTED_MOST = 32        /* chains of a recording for which one is searched */
};
#define CERTAIN 17 /* calls that would fall into the empty parts of a period by chance; fewer do not prove a period */

static int chain_by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t *sort_values(uint64_t *values, size_t n)
{
	if (n)
		qsort(values, n, sizeof(*values), chain_by_number);
	return values;
}

static uint64_t quarter_to_quarter(uint64_t *values, size_t n)
{
	sort_values(values, n);
	return n ? values[n * 3 / 4] - values[n / 4] : 0;
}

/* ---- which chain ---- */

static bool append_call(struct bsv_past_chain *chain, uint32_t call)
{
	if (!bsv_array_add(&chain->calls, &chain->n, sizeof(*chain->calls)))
		return false;
	chain->calls[chain->n - 1] = call;
	return true;
}

static bool put_in_chain(struct bsv_past *p, uint32_t i)
{
	const struct bsv_past_call *c = &p->calls[i];
	bool apart = c->trial || c->path == PATH_FENCED; /* launches and trials run beside others */
	uint32_t *newest = &p->groups[p->models[c->model].group].chains[c->path], next = *newest;
	struct bsv_past_chain *chain = NULL;
	uint64_t latest = 0;

	/* The chain of the call's group and path whose thread became free last; NULL if no thread is free. */
	for (unsigned looks = 0; next && looks < BESIDE_MOST; looks++) {
		struct bsv_past_chain *other = &p->chains[next - 1];
		uint64_t answered = p->calls[other->calls[other->n - 1]].answered;

		if ((apart || answered <= c->submitted) && (!chain || answered > latest)) {
			chain = other;
			latest = answered;
		}
		next = other->beside;
	}
	if (chain) {
		if (p->calls[chain->calls[chain->n - 1]].answered > c->submitted)
			chain->loop = BSV_LOOP_APART;
		return append_call(chain, i);
	}
	if (!bsv_array_add(&p->chains, &p->n_chains, sizeof(*p->chains)))
		return false;
	chain = &p->chains[p->n_chains - 1];
	chain->model = c->model;
	chain->path = c->path;
	chain->beside = *newest;
	chain->loop = c->trial ? BSV_LOOP_APART : BSV_LOOP_CLOSED;
	*newest = (uint32_t)p->n_chains;
	return append_call(chain, i);
}

/* ---- how it goes on ---- */

/* Deadlines show when calls were due. *ret_budget: from there to the deadline. */
static bool find_due_by_deadlines(const struct bsv_past *p, const struct bsv_past_chain *chain, uint64_t *scratch,
                                  uint64_t *ret_budget)
{
	size_t n = 0;

	for (size_t i = 0; i < chain->n; i++) {
		const struct bsv_past_call *c = &p->calls[chain->calls[i]];

		if (c->deadline == BSA_REPLAY_NEVER)
			return false;
		scratch[n++] = c->deadline > c->submitted ? c->deadline - c->submitted : 0;
	}
	if (n < ENOUGH)
		return false;
	sort_values(scratch, n);
	*ret_budget = scratch[n - 1];
	return scratch[n - 1] - scratch[n / 10] >= SPREAD_NS;
}

static bool is_closed(const struct bsv_past *p, const struct bsv_past_chain *chain, uint64_t *scratch)
{
	uint64_t thinks, gaps;

	for (size_t i = 1; i < chain->n; i++)
		scratch[i - 1] = p->calls[chain->calls[i]].submitted - p->calls[chain->calls[i - 1]].answered;
	thinks = quarter_to_quarter(scratch, chain->n - 1);
	for (size_t i = 1; i < chain->n; i++)
		scratch[i - 1] = p->calls[chain->calls[i]].submitted - p->calls[chain->calls[i - 1]].submitted;
	gaps = quarter_to_quarter(scratch, chain->n - 1);
	return thinks < gaps;
}

/* Put in a call like @like that was due at @due. */
static bool imagine_call(struct bsv_past *p, struct bsv_past_chain *to, uint32_t like, uint64_t due)
{
	if (!bsv_array_add(&p->calls, &p->n_calls, sizeof(*p->calls)))
		return false;
	p->calls[p->n_calls - 1] = p->calls[like];
	p->calls[p->n_calls - 1].due = p->calls[p->n_calls - 1].submitted = due;
	p->calls[p->n_calls - 1].imagined = true;
	to->skips = true;
	return append_call(to, (uint32_t)(p->n_calls - 1));
}

/* ---- frames that come at uneven times ---- */

/* Frames begin one each @period_ns, from @from; each is due within @spread_ns of its beginning. */
struct frames {
	double from, period_ns, spread_ns; /* ns since the first call was due; period_ns 0: unknown */
};

/*
 * The first @n dues of the chain in parts of a period that are empty: the longest run of them;
 * *ret_end: the part behind it.
 */
static unsigned empty_parts(const struct bsv_past *p, const struct bsv_past_chain *chain, size_t n, double period,
                            unsigned *ret_end)
{
	uint64_t first = p->calls[chain->calls[0]].due;
	bool taken[PARTS] = { false };
	unsigned most = 0, run = 0;

	for (size_t i = 0; i < n; i++) {
		double frames = (double)(p->calls[chain->calls[i]].due - first) / period;

		taken[(unsigned)((frames - floor(frames)) * PARTS) % PARTS] = true;
	}
	for (unsigned i = 0; i < 2 * PARTS; i++) { /* the chain is a circle */
		run = taken[i % PARTS] ? 0 : run + 1;
		if (run <= most || run >= PARTS)
			continue;
		most = run;
		*ret_end = (i + 1) % PARTS;
	}
	return most;
}

/*
 * Try periods from @least to @most, so near each other that the last due moves by half a part;
 * *period: the one that leaves the most parts empty.
 */
static unsigned best_period(const struct bsv_past *p, const struct bsv_past_chain *chain, size_t n, double least,
                            double most, double *period, unsigned *ret_end)
{
	double span = (double)(p->calls[chain->calls[n - 1]].due - p->calls[chain->calls[0]].due);
	unsigned best = 0, end = 0, empty;

	for (double at = least; at <= most; at += at * at / (2 * PARTS * span)) {
		empty = empty_parts(p, chain, n, at, &end);
		if (empty <= best)
			continue;
		best = empty;
		*period = at;
		*ret_end = end;
	}
	return best;
}

/*
 * The frames of a stream whose frames are due late by up to most of a period: the period is the one
 * for which a part of each is always empty. After an answer the thread takes the last frame that is
 * due, or waits for the next one: so two that it waited between are neighbours, less than two
 * periods apart. Of 800 streams of 100 calls at random times, in 2 ways, a period was found for
 * one.
 */
static struct frames frames_of(const struct bsv_past *p, const struct bsv_past_chain *chain)
{
	size_t n = chain->n < FRAMES_FIT ? chain->n : FRAMES_FIT;
	double least = 0, most, span, whole, period = 0, fits;
	struct frames none = { 0 };
	unsigned empty, end = 0;

	if (n < FRAMES_FEWEST || chain->n > FRAMES_MOST)
		return none;
	for (size_t i = 1; i < n; i++) {
		const struct bsv_past_call *a = &p->calls[chain->calls[i - 1]], *b = &p->calls[chain->calls[i]];

		if (b->due > a->answered && (double)(b->due - a->due) > 2 * least)
			least = (double)(b->due - a->due) / 2;
	}
	span = (double)(p->calls[chain->calls[n - 1]].due - p->calls[chain->calls[0]].due);
	most = span / (double)(n - 1) * (1 + 1 / (double)n);
	least = least > most / 2 ? least : most / 2;
	if (least <= 0)
		return none;
	best_period(p, chain, n, least, most, &period, &end);
	whole = (double)(p->calls[chain->calls[chain->n - 1]].due - p->calls[chain->calls[0]].due);
	if (period <= 0 || whole > LONGER_MOST * span)
		return none;
	fits = period * period / (PARTS * span);
	empty = best_period(p, chain, chain->n, period - fits, period + fits, &period, &end);
	if (empty * (double)chain->n < CERTAIN * PARTS)
		return none;
	return (struct frames){ .from = end * period / PARTS,
		                .period_ns = period,
		                .spread_ns = (PARTS - empty) * period / PARTS };
}

/*
 * Put in the frames between call @i and the next one, which the thread left out because it waited
 * for an answer until a later one was due.
 */
static bool imagine_frames(struct bsv_past *p, struct bsv_past_chain *to, const struct bsv_past_chain *chain, size_t i,
                           const struct frames *f)
{
	const uint64_t first = p->calls[chain->calls[0]].due, answered = p->calls[chain->calls[i]].answered;
	const bool is_last = i + 1 == chain->n;
	uint32_t like = chain->calls[is_last ? i : i + 1];
	uint64_t last = p->calls[chain->calls[i]].due, end = is_last ? chain->ends : p->calls[like].due, due;
	double k = floor(((double)(last - first) - f->from) / f->period_ns);

	/* the frame of the next call is no other one */
	end = is_last || (double)(end - first) < f->spread_ns ? end : end - (uint64_t)f->spread_ns / 2;
	while (p->n_calls < 2 * p->n_recorded + IMAGINED_MOST) {
		due = first + (uint64_t)(f->from + ++k * f->period_ns + f->spread_ns / 2);
		if (due >= end || (is_last && due >= answered))
			break;
		due = due < answered ? due : answered - 1;
		if (due <= last)
			break;
		if (!imagine_call(p, to, like, due))
			return false;
		last = due;
	}
	return true;
}

/* Put in what was due while the thread waited for @a, like @b: one each @every, before @until. */
static bool imagine_calls(struct bsv_past *p, struct bsv_past_chain *to, uint32_t a, uint32_t b, uint64_t every,
                          uint64_t until)
{
	uint64_t from = p->calls[a].due;

	for (uint64_t due = from + every; due < until && p->n_calls < 2 * p->n_recorded + IMAGINED_MOST; due += every) {
		if (due >= p->calls[a].answered)
			break;
		if (!imagine_call(p, to, b, due))
			return false;
	}
	return true;
}

/*
 * The time between two calls that are due, from those of which the first was answered before any
 * other could be; 0: not known.
 */
static uint64_t period_of(const struct bsv_past *p, const struct bsv_past_chain *chain, uint64_t *scratch)
{
	uint64_t least, sum = 0, n = 0;

	for (size_t i = 1; i < chain->n; i++)
		scratch[i - 1] = p->calls[chain->calls[i]].due - p->calls[chain->calls[i - 1]].due;
	least = sort_values(scratch, chain->n - 1)[(chain->n - 1) / 20];
	for (size_t i = 1; i < chain->n; i++) {
		const struct bsv_past_call *a = &p->calls[chain->calls[i - 1]], *b = &p->calls[chain->calls[i]];

		if (a->answered < a->due + least) {
			sum += b->due - a->due;
			n++;
		}
	}
	return n >= ENOUGH ? sum / n : 0;
}

static bool imagine_all(struct bsv_past *p, struct bsv_past_chain *chain, uint64_t *scratch)
{
	struct bsv_past_chain full = { 0 };
	struct frames frames = { 0 };
	uint64_t every = 0;
	bool done = true;

	if (p->n_fitted++ < FITTED_MOST)
		frames = frames_of(p, chain);
	if (frames.period_ns <= 0)
		every = period_of(p, chain, scratch);
	if (!every && frames.period_ns <= 0)
		return true;
	for (size_t i = 0; done && i < chain->n; i++) {
		uint32_t a = chain->calls[i], b = i + 1 < chain->n ? chain->calls[i + 1] : a;
		uint64_t gap = p->calls[b].due - p->calls[a].due, n = every ? (gap + every / 2) / every : 0;

		/*
		 * Between two calls those put in are evenly spread; behind the last one they go on
		 * until the chain ends.
		 */
		done = append_call(&full, a);
		if (done && every && a == b)
			done = imagine_calls(p, &full, a, a, every, chain->ends);
		else if (done && n >= 2)
			done = imagine_calls(p, &full, a, b, gap / n, p->calls[b].due - gap / n / 2);
		else if (done && !every)
			done = imagine_frames(p, &full, chain, i, &frames);
	}
	free(chain->calls);
	chain->calls = full.calls;
	chain->n = full.n;
	chain->skips = full.skips;
	return done;
}

/*
 * With few calls, the chain's kind is unknown. But a thread that waits most of the time submits its
 * next call when it gets an answer; a single call does not show how soon.
 */
static void follow_few(struct bsv_past *p, struct bsv_past_chain *chain)
{
	uint64_t waited_ns = 0, first = p->calls[chain->calls[0]].submitted;
	bool waited;

	for (size_t i = 0; i < chain->n; i++) {
		const struct bsv_past_call *c = &p->calls[chain->calls[i]];
		uint64_t until = c->answered < p->last_submitted ? c->answered : p->last_submitted;

		waited_ns += until > c->submitted ? until - c->submitted : 0;
	}
	waited = p->last_submitted > first && waited_ns > (p->last_submitted - first) / 2;
	p->n_starved += waited;
	chain->single = waited && chain->n < 2;
	p->n_single += chain->single;
	if (!waited)
		chain->loop = BSV_LOOP_OPEN;
}

static bool find_loop(struct bsv_past *p, struct bsv_past_chain *chain)
{
	uint64_t *scratch = malloc((chain->n + 1) * sizeof(*scratch));
	bool done = scratch != NULL;
	const struct bsv_past_call *last;
	uint64_t answered, due = 0;

	chain->budget_ns = BSA_REPLAY_NEVER;
	for (size_t i = 0; i < chain->n; i++)
		chain->fails |= !p->calls[chain->calls[i]].served;
	for (size_t i = 0; i < chain->n; i++)
		chain->hows[p->calls[chain->calls[i]].how] += p->calls[chain->calls[i]].served;
	/*
	 * Until when its thread would have submitted more: it was there at least until its last
	 * answer, and none goes on behind the last submission of all. Whose last call waited for
	 * the rest of the recording would have had many more under other rules.
	 */
	last = &p->calls[chain->calls[chain->n - 1]];
	answered = last->answered < p->last_submitted ? last->answered : p->last_submitted;
	chain->ends = chain->loop == BSV_LOOP_APART || answered < last->submitted ? last->submitted : answered;
	if (done && find_due_by_deadlines(p, chain, scratch, &chain->budget_ns)) {
		/* Dues never go back: what was tried again was due when the first attempt was. */
		for (size_t i = 0; i < chain->n; i++) {
			struct bsv_past_call *c = &p->calls[chain->calls[i]];

			c->due = c->deadline > chain->budget_ns ? c->deadline - chain->budget_ns : 0;
			c->due = c->due < due ? due : c->due;
			due = c->due;
		}
		if (chain->loop != BSV_LOOP_APART) {
			chain->loop = BSV_LOOP_OPEN;
			done = imagine_all(p, chain, scratch);
		}
	} else if (done) {
		chain->budget_ns = BSA_REPLAY_NEVER;
		if (chain->loop == BSV_LOOP_CLOSED && chain->n < ENOUGH)
			follow_few(p, chain);
		else if (chain->loop == BSV_LOOP_CLOSED && !is_closed(p, chain, scratch))
			chain->loop = BSV_LOOP_OPEN;
	}
	free(scratch);
	return done;
}

bool bsv_past_chains(struct bsv_past *p)
{
	p->n_recorded = p->n_calls;
	for (size_t i = 0; i < p->n_calls; i++)
		if (!p->calls[i].trial && p->calls[i].submitted > p->last_submitted)
			p->last_submitted = p->calls[i].submitted;
	for (size_t i = 0; i < p->n_recorded; i++)
		if (!put_in_chain(p, (uint32_t)i))
			return false;
	for (size_t i = 0; i < p->n_chains; i++) {
		struct bsv_past_group *g = &p->groups[p->models[p->chains[i].model].group];

		if (!find_loop(p, &p->chains[i]))
			return false;
		g->closed |= p->chains[i].loop == BSV_LOOP_CLOSED;
		g->open |= p->chains[i].loop == BSV_LOOP_OPEN;
		g->apart |= p->chains[i].loop == BSV_LOOP_APART && p->calls[p->chains[i].calls[0]].path != 4;
	}
	return true;
}
