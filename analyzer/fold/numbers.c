/*
 * numbers.c -- keeps the summaries above the number up to which all are known, for each service,
 * and searches them for gaps when a hole is judged.
 */
#include "fold/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "fold/inside.h"

enum {
	SUMMARIES_FEW = 1 << 10,
	SUMMARIES_MAX = 1 << 17,
	OPEN_MAX = 1 << 10,
	ANSWERED_MAX = 1 << 10, /* executions of one service; with more, more executions count as unseen */
	INSTANCE_SHIFT = 20
};

/* Numbers count from bsa_numbered.base. */
struct summary {
	uint32_t ready, over, n_ready;
	uint64_t after, ended; /* lower bound of the time at which it became ready; its end */
};

struct bsa_numbered {
	bool numbers;   /* the service numbers its executions, as far as is known */
	bool born;      /* the recording has it from its beginning */
	bool based;     /* all that became ready up to number @base is known */
	uint64_t began; /* when this service began: executions of the one before may be reported later */
	uint32_t base;
	uint64_t after; /* an execution with a number above @base became ready after this time */
	/* for which that holds: no summary of one up to @base is written later than a horizon after this */
	uint64_t since;
	/* owned; of numbers above base, and those that may have ended behind later ones; n of them */
	struct summary *all;
	size_t n, room;
	uint32_t n_seen, most; /* numbers seen; highest number */
	uint64_t most_at;      /* the latest time after which @most was taken */
	/* the end of a hole: numbers are missing since then that may be of executions under way; 0: none */
	uint64_t judged;
	size_t look_at; /* n that is worth a look at which of them are known without a gap */
	/* owned; when executions had their answers whose numbers no event had; n_answered of them */
	uint64_t *answered;
	size_t n_answered, room_answered;
};

void bsa_numbers_fini(struct bsa_numbers *n)
{
	for (size_t i = 0; i < BSA_INSTANCES; i++) {
		if (n->services[i]) {
			free(n->services[i]->all);
			free(n->services[i]->answered);
		}
		free(n->services[i]);
	}
	free(n->holes);
	free(n->put_off);
	*n = (struct bsa_numbers){ .n_holes = 0 };
}

/* ---- services ---- */

static struct bsa_numbered *service_of(struct bsa_fold *f, unsigned instance)
{
	struct bsa_numbered **s = &f->numbers.services[instance & (BSA_INSTANCES - 1)];

	if (!*s)
		*s = bsa_fold_alloc(f, sizeof(**s));
	return *s;
}

static void forget_all(struct bsa_numbered *s)
{
	s->based = false;
	s->judged = 0;
	s->n = 0;
	s->look_at = SUMMARIES_FEW;
}

void bsa_numbers_begin(struct bsa_fold *f, uint16_t instance, bool again)
{
	struct bsa_numbered *s = service_of(f, instance);

	if (!s)
		return;
	forget_all(s);
	s->numbers = true;
	s->born = s->based = !again;
	s->base = 0;
	s->after = s->since = f->now;
	s->n_seen = s->most = 0;
	s->most_at = 0;
	s->n_answered = 0;
	s->began = f->now;
}

void bsa_numbers_see(struct bsa_fold *f, struct bsa_exec *x, uint32_t n_ready, uint64_t since)
{
	struct bsa_numbered *s = service_of(f, x->sched.instance);

	if (!s)
		return;
	s->numbers &= n_ready || s->most > INT32_MAX; /* 0 comes after the largest number, too */
	if (!s->n_seen || (int32_t)(n_ready - s->most) > 0)
		s->most = n_ready;
	s->n_seen += !x->numbered;
	x->numbered = true;
	if (since > s->most_at && since != BSA_NEVER)
		s->most_at = since;
}

void bsa_numbers_answered(struct bsa_fold *f, unsigned instance, uint64_t since, uint64_t at)
{
	struct bsa_numbered *s = f->numbers.services[instance & (BSA_INSTANCES - 1)];

	if (!s || !s->numbers || since < s->began || !f->losses.n || s->n_answered == ANSWERED_MAX)
		return;
	if (!BSA_RESERVE(s->answered, s->room_answered, s->n_answered + 1, 8)) {
		f->failed = -ENOMEM;
		return;
	}
	s->answered[s->n_answered++] = at;
}

/* ---- summaries ---- */

static int summary_by_number(const void *one, const void *other)
{
	const struct summary *a = one, *b = other;

	return (a->ready > b->ready) - (a->ready < b->ready);
}

static void sort_by_number(struct bsa_numbered *s)
{
	if (s->n > 1) /* there may be no array yet */
		qsort(s->all, s->n, sizeof(*s->all), summary_by_number);
}

/* The first number above the base that is missing, and *after: who has it became ready later than that. */
static uint32_t first_missing(const struct bsa_numbered *s, uint64_t *ret_after)
{
	uint32_t next = 1;

	*ret_after = s->after;
	for (size_t i = 0; i < s->n && s->all[i].ready <= next; i++) {
		if (s->all[i].after > *ret_after)
			*ret_after = s->all[i].after;
		next += s->all[i].ready == next;
	}
	return next;
}

/*
 * All executions up to number base + @by are known. Forget those summaries of them that no later question
 * needs: @first ended before any that one does.
 */
static void raise_base(struct bsa_numbered *s, uint32_t by, const struct summary *first)
{
	uint32_t over = first ? first->over : 0;
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct summary x = s->all[i];

		if (x.ready <= by && (!first || (int32_t)(x.over - over) <= 0))
			continue;
		x.ready -= x.ready > by ? by : x.ready;
		x.n_ready -= by;
		s->all[kept++] = x;
	}
	s->base += by;
	s->n = kept;
}

/* The first that ended of those whose summaries cannot have been lost in a hole before @at. NULL: none. */
static const struct summary *first_over_after(const struct bsa_numbered *s, uint64_t at)
{
	const struct summary *first = NULL;

	for (size_t i = 0; i < s->n; i++)
		if (s->all[i].ended > at && (!first || (int32_t)(s->all[i].over - first->over) < 0))
			first = &s->all[i];
	return first;
}

/*
 * Numbers that are missing since the last hole that was judged are of executions that are over, if all are
 * known that were under way at some time after it; and no hole at @at or later hides one of them, if their
 * summaries are written by then.
 */
static void close_hole(const struct bsa_fold *f, struct bsa_numbered *s, uint64_t at)
{
	const struct summary *first = s->judged ? first_over_after(s, s->judged) : NULL;
	uint32_t there;

	if (!first || first->ended + 2 * f->latest_written >= at)
		return;
	/*
	 * When @first ended, so many were ready or on lanes. If all of them are known, all others up to that
	 * number are over.
	 */
	there = first->n_ready + s->base - first->over;
	for (size_t i = 0; i < s->n; i++)
		there -= s->all[i].ready <= first->n_ready && (int32_t)(s->all[i].over - first->over) > 0;
	if (there)
		return;
	s->after = first->ended;
	s->judged = 0;
	raise_base(s, first->n_ready, first);
}

static bool numbers_make_room(struct bsa_fold *f, struct bsa_numbered *s)
{
	if (s->n >= s->look_at && !f->numbers.n_holes) {
		/* If no hole is open, forget the summaries up to the first missing one: they are complete. */
		uint64_t after;
		uint32_t by;

		close_hole(f, s, f->now);
		sort_by_number(s);
		by = first_missing(s, &after) - 1;
		s->after = after;
		raise_base(s, by, NULL);
		s->look_at = s->n + SUMMARIES_FEW;
	}
	if (s->n == SUMMARIES_MAX) {
		forget_all(s);
		return false;
	}
	if (!BSA_RESERVE(s->all, s->room, s->n + 1, 64)) {
		f->failed = -ENOMEM;
		return false;
	}
	return true;
}

void bsa_numbers_hear(struct bsa_fold *f, const struct bsa_exec *x, const struct bsa_exec_service *e)
{
	struct bsa_numbered *s = service_of(f, x->sched.instance);
	uint64_t ready = x->fact.at[BSA_ENQUEUED], ended = x->fact.at[BSA_RUN_ENDED], last = e->began;
	/* A hole may hide when @x was preempted: then the lanes are unknown while @x was under way. */
	bool doubts_lanes = !x->sched.counted && ready != BSA_NEVER && ended != BSA_NEVER;

	for (size_t i = 0; doubts_lanes && i < f->numbers.n_holes; i++) {
		struct bsa_open_hole *h = &f->numbers.holes[i];

		if (ready > h->ended || ended < h->began)
			continue;
		h->from = ready < h->from ? ready : h->from;
		h->until = ended > h->until ? ended : h->until;
	}
	if (!s || ended == BSA_NEVER)
		return;
	/* 0 means that @e has no number, unless the numbers wrapped around. */
	if (!e->nth_ready && (!s->numbers || !s->based || s->base <= INT32_MAX || ready == BSA_NEVER)) {
		if (ready != BSA_NEVER) {
			forget_all(s);
			s->numbers = false;
		}
		return;
	}
	/* At a time without an execution under way, all executions before it are known: count from there. */
	if (!s->based && s->numbers && e->nth_over == e->n_ready) {
		s->based = true;
		s->base = e->n_ready;
		s->after = s->since = ended;
	}
	if (!s->based || e->nth_ready - s->base > INT32_MAX || !numbers_make_room(f, s) || !s->based)
		return;

	/* The last recorded time before @x got its number. */
	for (int b = BSA_REQUEST_READ; b < BSA_ENQUEUED; b++)
		if (x->fact.at[b] != BSA_NEVER && x->fact.at[b] > last)
			last = x->fact.at[b];
	s->all[s->n++] = (struct summary){ .ready = e->nth_ready - s->base,
		                           .over = e->nth_over,
		                           .n_ready = e->n_ready - s->base,
		                           .after = last,
		                           .ended = ended };
}

/* ---- holes ---- */

static const struct summary *latest_summary(const struct bsa_numbered *s)
{
	const struct summary *last = NULL;

	for (size_t i = 0; i < s->n; i++)
		if (!last || s->all[i].ended > last->ended)
			last = &s->all[i];
	return last;
}

/* From when on @h may hide an execution of this service; BSA_NEVER: it hides none. False: that is not known. */
static bool hidden_from(const struct bsa_fold *f, struct bsa_numbered *s, const struct bsa_open_hole *h, uint64_t *ret)
{
	const struct summary *first, *last;
	uint64_t after;
	uint32_t missing;

	if (!s->numbers || !s->based || (!s->born && h->began <= s->since + f->options.horizon_ns))
		return false;
	close_hole(f, s, h->began);
	sort_by_number(s);
	missing = first_missing(s, &after);
	first = first_over_after(s, h->ended);
	last = first ? first : latest_summary(s);
	*ret = last && missing > last->n_ready ? BSA_NEVER : after;
	if (!first &&
	    (last ? last->ended : s->after) < *ret) /* an execution that became ready since then has any number */
		*ret = last ? last->ended : s->after;
	s->judged = h->ended;
	return true;
}

static void judge_hole(struct bsa_fold *f, const struct bsa_open_hole *h, bool hurry)
{
	uint64_t from = h->from, of_service = BSA_NEVER, until = h->until > h->ended ? h->until : h->ended;
	bool known = !hurry, any = false;

	/* From when on the hole may hide executions, of all services. */
	for (unsigned i = 0; known && i < BSA_INSTANCES; i++) {
		struct bsa_numbered *s = f->numbers.services[i];

		if (!s && !f->voices.heard[i])
			continue;
		known = s && hidden_from(f, s, h, &of_service);
		from = known && of_service < from ? of_service : from;
		any = true;
	}
	if (!known || !any) {
		bsa_fold_unknown(f, h->began, h->ended);
		return;
	}
	if (from > h->ended) /* the missing one became ready after the hole, so its summary is still to come */
		from = BSA_NEVER;
	if (bsa_schedule_add_hole(f->schedule, h->began, h->ended, from, until))
		f->failed = -ENOMEM;
}

/* Those that ended before @at; with @hurry, as if nothing were known of them. */
static void judge_until(struct bsa_fold *f, uint64_t at, bool hurry)
{
	struct bsa_numbers *n = &f->numbers;
	size_t kept = 0;

	for (size_t i = 0; i < n->n_holes; i++)
		if (n->holes[i].ended < at)
			judge_hole(f, &n->holes[i], hurry);
		else
			n->holes[kept++] = n->holes[i];
	n->n_holes = kept;
	if (kept)
		return;
	for (size_t i = 0; i < n->n_put_off; i++)
		bsa_schedule_report_hidden(f->schedule, &n->put_off[i].stream, n->put_off[i].after,
		                           n->put_off[i].before, n->put_off[i].over);
	n->n_put_off = 0;
}

void bsa_numbers_judge(struct bsa_fold *f, bool hurry)
{
	if (f->numbers.n_holes)
		judge_until(f, BSA_NEVER, hurry);
	for (unsigned i = 0; i < BSA_INSTANCES && f->finished; i++)
		if (f->numbers.services[i])
			close_hole(f, f->numbers.services[i], BSA_NEVER);
}

bool bsa_numbers_lose(struct bsa_fold *f, uint64_t began, uint64_t ended)
{
	struct bsa_numbers *n = &f->numbers;

	if (!f->options.horizon_ns || (f->full_lanes && !f->summed_lanes) || ended == BSA_NEVER)
		return false;
	if (n->n_holes == OPEN_MAX)
		bsa_numbers_judge(f, true);
	if (!BSA_RESERVE(n->holes, n->room_holes, n->n_holes + 1, 8)) {
		f->failed = -ENOMEM;
		return false;
	}
	n->holes[n->n_holes++] = (struct bsa_open_hole){ .began = began, .ended = ended, .from = BSA_NEVER };
	return true;
}

uint64_t bsa_numbers_advance(struct bsa_fold *f, uint64_t until)
{
	struct bsa_numbers *n = &f->numbers;
	uint64_t horizon = f->options.horizon_ns;

	if (__builtin_expect(!n->n_holes, 1))
		return until;
	if (f->now > horizon)
		judge_until(f, f->now - horizon, false);
	for (size_t i = 0; i < n->n_holes; i++) {
		uint64_t before = n->holes[i].began > horizon ? n->holes[i].began - horizon - 1 : 0;

		until = before < until ? before : until;
	}
	return until;
}

void bsa_numbers_hidden(struct bsa_fold *f, const struct bsa_stream *stream, uint64_t after, uint64_t before, bool over)
{
	struct bsa_numbers *n = &f->numbers;

	if (!n->n_holes) {
		bsa_schedule_report_hidden(f->schedule, stream, after, before, over);
		return;
	}
	if (!BSA_RESERVE(n->put_off, n->room_put_off, n->n_put_off + 1, 16)) {
		f->failed = -ENOMEM;
		return;
	}
	n->put_off[n->n_put_off++] = (struct bsa_put_off){ *stream, after, before, over };
}

uint64_t bsa_numbers_complete_until(const struct bsa_fold *f, unsigned instance)
{
	struct bsa_numbered *s = f->numbers.services[instance & (BSA_INSTANCES - 1)];
	const struct summary *last;
	uint64_t after;

	if (!s || !s->numbers || !s->based || !s->born)
		return 0;
	sort_by_number(s);
	last = latest_summary(s);
	if (!last)
		return s->after;
	return first_missing(s, &after) > last->n_ready ? last->ended : 0;
}

/*
 * The number of executions of service @instance that became ready without a recorded event so far; BSA_NEVER:
 * unknown.
 */
static uint64_t unseen_of(const struct bsa_fold *f, unsigned instance)
{
	const struct bsa_numbered *s = f->numbers.services[instance];
	uint64_t seen;

	if (!s || !s->numbers || !s->born || s->most_at <= bsa_losses_end(&f->losses, f->now))
		return BSA_NEVER;
	/*
	 * Executions that were answered by @most_at became ready before that: their numbers are not missing,
	 * though no event had them.
	 */
	seen = s->n_seen;
	for (size_t i = 0; i < s->n_answered; i++)
		seen += s->answered[i] <= s->most_at;
	return seen > s->most ? BSA_NEVER : s->most - seen;
}

bool bsa_numbers_none_unseen(const struct bsa_fold *f, unsigned instance)
{
	return !unseen_of(f, instance & (BSA_INSTANCES - 1));
}

uint64_t bsa_numbers_unseen(const struct bsa_fold *f)
{
	uint64_t unseen = 0;

	if (!f->losses.n)
		return 0;
	for (unsigned i = 0; i < BSA_INSTANCES; i++) {
		uint64_t of = f->numbers.services[i] || f->voices.heard[i] ? unseen_of(f, i) : 0;

		if (of == BSA_NEVER)
			return BSA_NEVER;
		unseen += of;
	}
	return unseen;
}
