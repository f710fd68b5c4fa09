/*
 * judge.c -- derives the fact of an execution that is over: its phases, its missed deadline, and what was not
 * recorded.
 */
#include "fold/inside.h"

#include <assert.h>
#include <string.h>

/* A boundary, and the phase that it ends. */
struct tile {
	uint8_t boundary, phase;
};

/* Boundaries of one, in the order in which they come, from SUBMITTED on; and the phases that it does not have. */
struct tiling {
	const struct tile *tiles;
	size_t n;
	const uint8_t *lacks;
	size_t n_lacks;
};

static const struct tile answered[] = {
	{ BSA_REQUEST_WRITTEN, BSA_PREPARE }, { BSA_REQUEST_READ, BSA_SEND },  { BSA_DECODED, BSA_DECODE },
	{ BSA_ENQUEUED, BSA_SLOTS },          { BSA_DISPATCHED, BSA_QUEUE },   { BSA_RUN_ENDED, BSA_RUN },
	{ BSA_RESULT_WRITTEN, BSA_REPLY },    { BSA_RESULT_READ, BSA_RETURN }, { BSA_RETURNED, BSA_FINISH },
};
/* Its fences were waited for, and it was not launched. */
static const struct tile fenced[] = {
	{ BSA_REQUEST_WRITTEN, BSA_PREPARE }, { BSA_REQUEST_READ, BSA_SEND },
	{ BSA_DECODED, BSA_DECODE },          { BSA_FENCED, BSA_FENCE },
	{ BSA_ENQUEUED, BSA_SLOTS },          { BSA_DISPATCHED, BSA_QUEUE },
	{ BSA_RUN_ENDED, BSA_RUN },           { BSA_RESULT_WRITTEN, BSA_REPLY },
	{ BSA_RESULT_READ, BSA_RETURN },      { BSA_RETURNED, BSA_FINISH },
};
static const struct tile launched[] = {
	{ BSA_REQUEST_WRITTEN, BSA_PREPARE }, { BSA_REQUEST_READ, BSA_SEND },
	{ BSA_DECODED, BSA_DECODE },          { BSA_FENCED, BSA_FENCE },
	{ BSA_ENQUEUED, BSA_SLOTS },          { BSA_DISPATCHED, BSA_QUEUE },
	{ BSA_RUN_ENDED, BSA_RUN },           { BSA_SIGNALLED, BSA_SIGNAL },
};

/* Its client ended the call before: that is a mark, as the return of a launch is. */
static const struct tile left[] = {
	{ BSA_REQUEST_WRITTEN, BSA_PREPARE }, { BSA_REQUEST_READ, BSA_SEND }, { BSA_DECODED, BSA_DECODE },
	{ BSA_ENQUEUED, BSA_SLOTS },          { BSA_DISPATCHED, BSA_QUEUE },  { BSA_RUN_ENDED, BSA_RUN },
	{ BSA_RESULT_WRITTEN, BSA_REPLY },
};

/* Its client could not send the request. */
static const struct tile unsent[] = {
	{ BSA_RETURNED, BSA_SEND },
};

/* A trial run is ready when it begins. */
static const struct tile tried[] = {
	{ BSA_ENQUEUED, BSA_SLOTS },
	{ BSA_DISPATCHED, BSA_QUEUE },
	{ BSA_RUN_ENDED, BSA_RUN },
};

static const uint8_t lacks_answered[] = { BSA_FENCE, BSA_SIGNAL }, lacks_fenced[] = { BSA_SIGNAL },
		     lacks_launched[] = { BSA_REPLY, BSA_RETURN, BSA_FINISH },
		     lacks_left[] = { BSA_FENCE, BSA_RETURN, BSA_FINISH, BSA_SIGNAL },
		     lacks_unsent[] = { BSA_PREPARE,   BSA_DECODE, BSA_FENCE,  BSA_SLOTS,  BSA_QUEUE, BSA_RUN,
	                                BSA_PREEMPTED, BSA_REPLY,  BSA_RETURN, BSA_FINISH, BSA_SIGNAL },
		     lacks_tried[] = { BSA_PREPARE, BSA_SEND,   BSA_DECODE, BSA_FENCE,
	                               BSA_REPLY,   BSA_RETURN, BSA_FINISH, BSA_SIGNAL };

#define COUNT(list) (sizeof(list) / sizeof(*(list)))
#define TILING(tiles) ((struct tiling){ tiles, COUNT(tiles), lacks_##tiles, COUNT(lacks_##tiles) })

/* Each phase is of a tile, or lacks, or is that off the lanes, which belongs to the run. */
static_assert(COUNT(answered) + COUNT(lacks_answered) + 1 == BSA_PHASES, "phases of an answered execution");
static_assert(COUNT(fenced) + COUNT(lacks_fenced) + 1 == BSA_PHASES, "phases of a fenced execution");
static_assert(COUNT(launched) + COUNT(lacks_launched) + 1 == BSA_PHASES, "phases of a launch");
static_assert(COUNT(left) + COUNT(lacks_left) + 1 == BSA_PHASES, "phases of an execution that its client left");
static_assert(COUNT(unsent) + COUNT(lacks_unsent) == BSA_PHASES, "phases of an execution that was not sent");
static_assert(COUNT(tried) + COUNT(lacks_tried) + 1 == BSA_PHASES, "phases of a trial run");

static bool has_boundary(const struct bsa_exec *x, enum bsa_boundary b)
{
	return x->fact.at[b] != BSA_NEVER;
}

/* The events that tell of boundaries, and whose summary does, too. */
static const struct {
	uint8_t kind;
	bool of_client;
} told_by[BSA_BOUNDARIES] = {
	[BSA_SUBMITTED] = { BSA_exec_submit, true },      [BSA_REQUEST_WRITTEN] = { BSA_fmq_write, true },
	[BSA_REQUEST_READ] = { BSA_fmq_read, false },     [BSA_DECODED] = { BSA_request_decode, false },
	[BSA_FENCED] = { BSA_fence_wait, false },         [BSA_ENQUEUED] = { BSA_sched_enqueue, false },
	[BSA_DISPATCHED] = { BSA_sched_dispatch, false }, [BSA_RUN_ENDED] = { BSA_exec_end, false },
	[BSA_RESULT_WRITTEN] = { BSA_fmq_write, false },  [BSA_RESULT_READ] = { BSA_fmq_read, true },
	[BSA_RETURNED] = { BSA_exec_return, true },       [BSA_SIGNALLED] = { BSA_fence_signal, false },
};

/* Is it certain that the recording would have that @x reached @b, if no event was lost? */
static bool is_told(const struct bsa_fold *f, const struct bsa_exec *x, enum bsa_boundary b)
{
	return (told_by[b].of_client ? x->has_client : x->has_service) || bsa_fold_has_kind(f, x, told_by[b].kind);
}

/* Is it certain that the recording does not have that @x reached @b? */
static bool is_untold(const struct bsa_fold *f, enum bsa_boundary b)
{
	uint64_t tellers = UINT64_C(1) << told_by[b].kind |
	                   UINT64_C(1) << (told_by[b].of_client ? BSA_exec_client : BSA_exec_service);

	return (f->options.undeclared & tellers) == tellers;
}

bool bsa_exec_launched(const struct bsa_exec *x)
{
	if (x->fact.path != BSA_PATH_FENCED)
		return false;
	if (has_boundary(x, BSA_SIGNALLED) || x->returned != BSA_STATUS_UNKNOWN)
		return has_boundary(x, BSA_SIGNALLED) || x->returned == BSA_STATUS_NONE;
	return has_boundary(x, BSA_FENCED) || has_boundary(x, BSA_ENQUEUED) || has_boundary(x, BSA_DISPATCHED);
}

bool bsa_exec_may_be_launch(const struct bsa_exec *x)
{
	const uint64_t *at = x->fact.at;

	if (x->fact.path != BSA_PATH_UNKNOWN)
		return false;
	return !has_boundary(x, BSA_RUN_ENDED) || !has_boundary(x, BSA_RESULT_WRITTEN) ||
	       at[BSA_RUN_ENDED] > at[BSA_RESULT_WRITTEN];
}

bool bsa_exec_was_left(const struct bsa_exec *x)
{
	const uint64_t *at = x->fact.at;

	if (bsa_exec_is_trial(x) || x->returned == BSA_STATUS_UNKNOWN || x->returned == BSA_STATUS_NONE ||
	    !has_boundary(x, BSA_RETURNED) || bsa_exec_launched(x) || bsa_exec_may_be_launch(x))
		return false;
	/* A fenced one whose fences were waited for was launched all the same. */
	if (x->fact.path == BSA_PATH_FENCED && has_boundary(x, BSA_FENCED))
		return false;
	if (!has_boundary(x, BSA_REQUEST_WRITTEN) && !has_boundary(x, BSA_REQUEST_READ))
		return false;
	if (has_boundary(x, BSA_SUBMITTED) && at[BSA_SUBMITTED] > at[BSA_RETURNED])
		return false;
	/* If the client read a result, only the time of its writing shows whether the call was over by then. */
	if (has_boundary(x, BSA_RESULT_READ) &&
	    (!has_boundary(x, BSA_RESULT_WRITTEN) || at[BSA_RESULT_READ] < at[BSA_RESULT_WRITTEN]))
		return false;
	return !has_boundary(x, BSA_RESULT_WRITTEN) || at[BSA_RETURNED] < at[BSA_RESULT_WRITTEN];
}

static bool is_lost(const struct bsa_fold *f, uint64_t began, uint64_t ended)
{
	return bsa_losses_touch(&f->losses, began, ended);
}

/*
 * With full detail: its client's call failed before it had sent the request, as where the connection had ended, or the
 * service did not take it. Neither a loss nor the service's events hide that it was sent.
 */
static bool was_unsent(const struct bsa_fold *f, const struct bsa_exec *x)
{
	return x->asked && !x->has_service && !bsa_exec_is_trial(x) && !x->late_start &&
	       x->returned != BSA_STATUS_UNKNOWN && x->returned != BSA_STATUS_NONE && has_boundary(x, BSA_SUBMITTED) &&
	       has_boundary(x, BSA_RETURNED) && x->fact.at[BSA_SUBMITTED] <= x->fact.at[BSA_RETURNED] &&
	       !has_boundary(x, BSA_REQUEST_WRITTEN) && !has_boundary(x, BSA_RESULT_READ) &&
	       is_told(f, x, BSA_REQUEST_WRITTEN) && !(x->heard & BSA_HEARD_SERVICE) &&
	       !is_lost(f, x->fact.at[BSA_SUBMITTED], x->fact.at[BSA_RETURNED]);
}

/* ---- boundaries ---- */

/* Take the end from exec_service: a signal, if the signal is its result. */
static void take_answer(struct bsa_exec *x)
{
	struct bsa_execution *fact = &x->fact;
	enum bsa_boundary b = bsa_exec_launched(x) ? BSA_SIGNALLED : BSA_RESULT_WRITTEN;

	if (!x->has_service || bsa_exec_is_trial(x))
		return;
	if (fact->at[b] == BSA_NEVER)
		fact->at[b] = x->answered;
	if (b == BSA_RESULT_WRITTEN && fact->result.blocked == BSA_NEVER)
		fact->result.blocked = x->answer_blocked;
}

/*
 * Remove boundaries that are earlier than a boundary that must precede them. True: all of the tiling's
 * boundaries are there, from the first on; then the phases between them are set, but that of the run.
 */
static bool drop_absurd(struct bsa_fold *f, struct bsa_exec *x, struct tiling t)
{
	uint64_t *at = x->fact.at, last = at[BSA_SUBMITTED] == BSA_NEVER ? 0 : at[BSA_SUBMITTED];
	uint64_t run = x->fact.phase[BSA_RUN];
	bool whole = at[BSA_SUBMITTED] != BSA_NEVER;

	for (size_t i = 0; i < t.n; i++) {
		uint8_t b = t.tiles[i].boundary;

		if (at[b] == BSA_NEVER) {
			whole = false;
			continue;
		}
		if (at[b] >= last) {
			x->fact.phase[t.tiles[i].phase] = at[b] - last;
			last = at[b];
			continue;
		}
		at[b] = BSA_NEVER;
		whole = false;
		bsa_fold_absurd(f);
	}
	x->fact.phase[BSA_RUN] = run; /* set_run decides */
	return whole;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * For an execution that never ran: the number of tiles before the first boundary that it did not reach. All
 * tiles if it ran, or if that is unknown.
 */
static size_t came_to(const struct bsa_fold *f, const struct bsa_exec *x, struct tiling t)
{
	bool trial = bsa_exec_is_trial(x);
	uint64_t last = x->fact.at[trial ? BSA_ENQUEUED : BSA_REQUEST_READ];
	size_t came = trial ? 1 : 2; /* the request was read */

	/* Whether it ended without having had a lane. */
	if (!(has_boundary(x, BSA_RUN_ENDED) && !has_boundary(x, BSA_DISPATCHED) && x->lane == BSA_LANE_NONE) ||
	    x->late_start || last == BSA_NEVER)
		return t.n;
	for (size_t i = came; t.tiles[i].boundary != BSA_RUN_ENDED; i++)
		if (has_boundary(x, t.tiles[i].boundary)) {
			last = x->fact.at[t.tiles[i].boundary];
			came = i + 1;
		}
	if (!x->has_service && is_lost(f, last, x->fact.at[BSA_RUN_ENDED]))
		return t.n;
	/* that it had no lane, its end tells */
	for (size_t i = came; t.tiles[i].boundary != BSA_RUN_ENDED; i++)
		if (t.tiles[i].boundary != BSA_DISPATCHED && !is_told(f, x, t.tiles[i].boundary))
			return t.n;
	return came;
}

static bool is_skipped(struct tiling t, size_t came, size_t i)
{
	assert(i < t.n);
	return i >= came && t.tiles[i].boundary < BSA_RUN_ENDED;
}

/* ---- phases ---- */

static uint64_t time_between(const struct bsa_exec *x, enum bsa_boundary from, enum bsa_boundary to)
{
	return has_boundary(x, from) && has_boundary(x, to) ? x->fact.at[to] - x->fact.at[from] : BSA_NEVER;
}

/* All its preemptions are known, whatever was lost. */
static bool is_counted(const struct bsa_exec *x)
{
	return x->has_service && x->told_stops == x->stops && !x->broken;
}

static void set_run(struct bsa_fold *f, struct bsa_exec *x)
{
	const uint64_t *at = x->fact.at;
	uint64_t all = time_between(x, BSA_DISPATCHED, BSA_RUN_ENDED), *phase = x->fact.phase;

	if (all == BSA_NEVER || x->broken || (x->has_service && x->told_stops != x->stops))
		return;
	if (!is_counted(x) &&
	    (bsa_fold_lacks_stops(f, x) || is_lost(f, at[BSA_DISPATCHED], at[BSA_RUN_ENDED]) ||
	     bsa_schedule_lacked_stops(f->schedule, x->sched.instance, at[BSA_DISPATCHED], at[BSA_RUN_ENDED])))
		return;
	if (x->off_ns > all) {
		bsa_fold_absurd(f);
		return;
	}
	phase[BSA_RUN] = all - x->off_ns;
	phase[BSA_PREEMPTED] = x->off_ns;
}

static void set_phases(struct bsa_fold *f, struct bsa_exec *x, struct tiling t, size_t came)
{
	enum bsa_boundary last = bsa_exec_is_trial(x) ? BSA_ENQUEUED : BSA_SUBMITTED;
	uint64_t *phase = x->fact.phase;

	assert(came <= t.n);
	for (size_t i = 0; i < t.n; i++) {
		enum bsa_boundary b = t.tiles[i].boundary;

		if (is_skipped(t, came, i)) {
			phase[t.tiles[i].phase] = 0;
			continue;
		}
		if (b == BSA_RUN_ENDED && came < t.n) {
			phase[BSA_RUN] = phase[BSA_PREEMPTED] = 0;
			if (t.tiles[came].boundary < BSA_RUN_ENDED)
				phase[t.tiles[came].phase] = time_between(x, last, b);
		} else if (b == BSA_RUN_ENDED) {
			set_run(f, x);
		} else {
			phase[t.tiles[i].phase] = time_between(x, last, b);
		}
		last = b;
	}
}

/* Whether it was launched, or answered, is certain. */
static bool is_of_known_kind(const struct bsa_fold *f, const struct bsa_exec *x)
{
	/*
	 * The service refused to launch the fenced execution: it ended, and its fences were never waited for.
	 * Every launch waits for its fences, of which there may be none, before anything else.
	 */
	bool is_refused = x->fact.path == BSA_PATH_FENCED && !bsa_exec_launched(x) && is_told(f, x, BSA_FENCED) &&
	                  !has_boundary(x, BSA_FENCED) && has_boundary(x, BSA_REQUEST_READ) &&
	                  has_boundary(x, BSA_RUN_ENDED) &&
	                  (x->has_service || !is_lost(f, x->fact.at[BSA_REQUEST_READ], x->fact.at[BSA_RUN_ENDED]));

	/* The client may have left a launch: then only its signal tells that it was one. */
	if (x->fact.path == BSA_PATH_FENCED)
		return has_boundary(x, BSA_SIGNALLED) || x->returned == BSA_STATUS_NONE ||
		       (x->returned != BSA_STATUS_UNKNOWN && is_told(f, x, BSA_SIGNALLED)) || is_refused;
	return x->fact.path != BSA_PATH_UNKNOWN;
}

/* Whether it is certain which event ends it: a failed call may have been left, or that of a launch. */
static bool is_end_known(const struct bsa_fold *f, const struct bsa_exec *x)
{
	bool failed = x->returned != BSA_STATUS_UNKNOWN && x->returned != BSA_STATUS_NONE;

	if (x->fact.path == BSA_PATH_FENCED && !is_of_known_kind(f, x) && !bsa_exec_launched(x))
		return false;
	return !failed || x->fact.sides != BSA_SIDES_BOTH || has_boundary(x, BSA_RESULT_READ) ||
	       has_boundary(x, BSA_RESULT_WRITTEN) || is_told(f, x, BSA_RESULT_WRITTEN);
}

static void unset_doubtful(const struct bsa_fold *f, struct bsa_exec *x)
{
	static const uint8_t doubtful[] = { BSA_FENCE, BSA_SLOTS, BSA_REPLY, BSA_RETURN, BSA_FINISH, BSA_SIGNAL };
	/* No step of it was seen that only a launch has, and none that shows that it was none. */
	bool may_be_answered = x->fact.path == BSA_PATH_FENCED && !is_of_known_kind(f, x) && !bsa_exec_launched(x);
	bool is_doubtful = bsa_exec_may_be_launch(x) || may_be_answered;

	for (size_t i = 0; is_doubtful && i < sizeof(doubtful) / sizeof(*doubtful); i++)
		x->fact.phase[doubtful[i]] = BSA_NEVER;
}

/* ---- what was not seen ---- */

/* Whether the other side's summary may have been emitted before the recording. */
static bool is_older(const struct bsa_fold *f, uint64_t first)
{
	return first < f->began;
}

static uint8_t sides_of(const struct bsa_fold *f, const struct bsa_exec *x, uint64_t first)
{
	const struct bsa_stream_known *s = x->stream;
	uint8_t heard = x->heard | s->heard | (s->connection ? s->connection->heard : 0);

	if (bsa_exec_is_trial(x))
		return BSA_SIDES_SERVICE;
	if (is_older(f, first) || is_lost(f, first, f->now)) /* the other side may be what was lost */
		return BSA_SIDES_BOTH;
	if (heard == BSA_HEARD_CLIENT)
		return BSA_SIDES_CLIENT;
	return heard == BSA_HEARD_SERVICE ? BSA_SIDES_SERVICE : BSA_SIDES_BOTH;
}

/* The boundaries at which what is seen of it begins and ends. */
static enum bsa_boundary first_of(const struct bsa_exec *x)
{
	if (bsa_exec_is_trial(x))
		return BSA_ENQUEUED;
	return x->fact.sides == BSA_SIDES_SERVICE ? BSA_REQUEST_READ : BSA_SUBMITTED;
}

static enum bsa_boundary last_of(const struct bsa_exec *x)
{
	if (bsa_exec_is_trial(x))
		return BSA_RUN_ENDED;
	if (x->fact.sides == BSA_SIDES_CLIENT)
		return BSA_RETURNED;
	if (bsa_exec_launched(x))
		return BSA_SIGNALLED;
	return x->fact.sides == BSA_SIDES_SERVICE || bsa_exec_was_left(x) ? BSA_RESULT_WRITTEN : BSA_RETURNED;
}

static bool has_all(const struct bsa_fold *f, const struct bsa_exec *x, struct tiling t, size_t came)
{
	enum bsa_boundary first = first_of(x), last = last_of(x);

	if (t.tiles == unsent)
		return true;
	if (x->fact.sides == BSA_SIDES_CLIENT)
		return has_boundary(x, BSA_SUBMITTED) && has_boundary(x, BSA_REQUEST_WRITTEN) &&
		       (has_boundary(x, BSA_RESULT_READ) || (bsa_exec_was_left(x) && is_told(f, x, BSA_RESULT_READ))) &&
		       has_boundary(x, BSA_RETURNED);
	if (!has_boundary(x, first) || !has_boundary(x, last))
		return false;
	for (size_t i = 0; i < t.n; i++) {
		enum bsa_boundary b = t.tiles[i].boundary;

		/* A boundary of the client's side. */
		if (!has_boundary(x, b) && !is_skipped(t, came, i) &&
		    !(x->fact.sides == BSA_SIDES_SERVICE &&
		      (b == BSA_SUBMITTED || b == BSA_REQUEST_WRITTEN || b == BSA_RESULT_READ || b == BSA_RETURNED)))
			return false;
	}
	return true;
}

/* Whether it may continue after its last event. */
static bool is_open(const struct bsa_fold *f, const struct bsa_exec *x)
{
	const struct bsa_stream_known *s = x->stream;

	if (!(f->finished || x->evicted) || x->passed || s->closed || is_untold(f, last_of(x)))
		return false;
	if (bsa_stream_is_serial(s) && s->newest != (uint32_t)x->fact.exec)
		return false;
	return !is_lost(f, bsa_exec_last_seen(x), f->now);
}

/*
 * Its stream was opened in the recording, so it began there, and a loss hides its beginning: even if the
 * service reported it after a stop. If no boundary of it was seen, the loss hides all of them.
 */
static bool is_start_lost(const struct bsa_fold *f, const struct bsa_exec *x, uint64_t first)
{
	uint64_t opened = x->stream->fact.opened, quiet = x->stream->quiet_since,
		 from = quiet > opened ? quiet : opened;

	if (opened == BSA_NEVER || opened < f->began)
		return false;
	if (first == BSA_NEVER)
		return !x->late_start && is_lost(f, opened, f->now);
	return from <= first && is_lost(f, from, first);
}

/* One summary of it is there, and events were lost when the other one may have been emitted. */
static bool is_half_lost(const struct bsa_fold *f, const struct bsa_exec *x)
{
	uint64_t last = bsa_exec_last_seen(x);

	return f->options.horizon_ns && x->has_client != x->has_service && last != BSA_NEVER &&
	       is_lost(f, last, last + f->options.horizon_ns);
}

/*
 * LTTng reaches one program after the other: @x was submitted before its service was recorded, and no event of the
 * service mentions it. So the service may have ended it before.
 */
static bool precedes_service(const struct bsa_fold *f, const struct bsa_exec *x)
{
	uint64_t began = f->voices.began[x->sched.instance & (BSA_INSTANCES - 1)];

	return has_boundary(x, BSA_SUBMITTED) && !(x->heard & BSA_HEARD_SERVICE) &&
	       (!began || x->fact.at[BSA_SUBMITTED] < began);
}

/*
 * What the quality of a launch that precedes the recording of its service is. A service lists the launches that it has
 * when its recording begins. So it had ended those that had returned by then; with full detail it had ended all,
 * because it would have reported that it read the request.
 */
static enum bsa_quality quality_of_early_launch(const struct bsa_fold *f, const struct bsa_exec *x)
{
	uint64_t began = f->voices.began[x->sched.instance & (BSA_INSTANCES - 1)];
	bool is_ended = !f->options.horizon_ns || x->fact.at[BSA_RETURNED] < began;

	return is_ended && !is_lost(f, x->fact.at[BSA_SUBMITTED], f->now) ? BSA_QUALITY_HEAD : BSA_QUALITY_TAIL;
}

static enum bsa_quality quality_of(const struct bsa_fold *f, const struct bsa_exec *x, uint64_t first, bool all)
{
	bool certain = all && is_counted(x);

	if (first != BSA_NEVER && !certain && is_lost(f, first, bsa_exec_last_seen(x)))
		return BSA_QUALITY_GAP;
	if (all && (x->fact.sides == BSA_SIDES_CLIENT || x->fact.phase[BSA_RUN] != BSA_NEVER))
		return BSA_QUALITY_COMPLETE;
	/* Summaries may have all its times, and not when it was off its lane before the recording. */
	if (is_older(f, first))
		return BSA_QUALITY_HEAD;
	if (all)
		return BSA_QUALITY_GAP;
	/*
	 * Its service reported in the recording that it was queued, and since when, and no summary of it came
	 * until the end.
	 */
	if (x->found_queued && first != BSA_NEVER && !x->has_service && !x->has_client && is_open(f, x))
		return BSA_QUALITY_OPEN;
	if (!has_boundary(x, first_of(x)))
		return (!x->late_start && first != BSA_NEVER && bsa_exec_lost_before(f, x, first)) ||
		                       is_start_lost(f, x, first) || is_half_lost(f, x)
		               ? BSA_QUALITY_GAP
		               : BSA_QUALITY_HEAD;
	if (!has_boundary(x, last_of(x)) && bsa_exec_launched(x) && precedes_service(f, x))
		return quality_of_early_launch(f, x);
	/* To its client the service, or the connection, was no more. */
	if (!has_boundary(x, last_of(x)) && bsa_exec_was_left(x) && x->returned == BSA_STATUS_DEAD_OBJECT)
		return BSA_QUALITY_TAIL;
	if (!has_boundary(x, last_of(x)))
		return is_open(f, x) ? BSA_QUALITY_OPEN : BSA_QUALITY_TAIL;
	return BSA_QUALITY_GAP;
}

/*
 * Whether all lookups of its slots were recorded. No loss shows that the session has no slot_lookup: the number of the
 * request's slots does, which request_decode has. Of a request that is refused for its deadline, no slot is looked up.
 */
static bool has_all_lookups(const struct bsa_fold *f, const struct bsa_exec *x)
{
	uint64_t end = has_boundary(x, BSA_ENQUEUED) ? x->fact.at[BSA_ENQUEUED] : x->fact.at[BSA_RUN_ENDED];
	bool decoded = has_boundary(x, BSA_DECODED);
	uint64_t began = decoded ? x->fact.at[BSA_DECODED] : x->fact.at[BSA_REQUEST_READ];

	if (x->has_service)
		return true;
	if (began == BSA_NEVER || end == BSA_NEVER || is_lost(f, began, end))
		return false;
	if (x->fact.path != BSA_PATH_BURST || (x->fact.missed_at != BSA_NEVER && x->miss_stage == BSA_STAGE_ADMISSION))
		return true;
	return decoded && x->fact.lookups >= x->slots;
}

/* ---- deadlines ---- */

/*
 * @at: when it was given up, or the time of the event: its thread may have lost the cpu between giving up and
 * emitting it.
 */
static void set_unfinished_miss(struct bsa_execution *fact, uint64_t at, int64_t lateness)
{
	bool ahead = lateness < 0 && lateness != BSA_LATENESS_UNKNOWN;

	fact->miss = at < fact->deadline || ahead ? BSA_MISS_PREDICTED : BSA_MISS_ABORTED;
	fact->lateness = lateness;
}

static uint64_t exec_end_of(const struct bsa_exec *x)
{
	static const enum bsa_boundary ends[] = { BSA_RETURNED, BSA_RESULT_WRITTEN, BSA_RUN_ENDED };

	if (bsa_exec_launched(x))
		return x->fact.at[BSA_SIGNALLED];
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (has_boundary(x, ends[i]))
			return x->fact.at[ends[i]];
	return BSA_NEVER;
}

/*
 * The lateness of an execution given up at @ended whose deadline_miss event was not recorded. Unknown if only
 * the end of the client was recorded, because the client learns of it some time after the service gave it up.
 */
static int64_t lateness_at(const struct bsa_fold *f, const struct bsa_exec *x, uint64_t ended)
{
	if (!x->fact.deadline || ended == BSA_NEVER || x->fact.sides == BSA_SIDES_CLIENT ||
	    !has_boundary(x, BSA_RUN_ENDED) || is_lost(f, bsa_exec_first_seen(x), ended))
		return BSA_LATENESS_UNKNOWN;
	return (int64_t)(ended - x->fact.deadline);
}

/*
 * The service was recorded until after the deadline of @x, and had not answered it by then: if it succeeds,
 * it is late. Where the service had answered, or was not recorded so long, the app may have had the answer in
 * time, because its recording may have ended before that; unless it is known how long all was recorded. Not if @x has
 * failed already, and not where summaries are recorded, because the one of @x may have been about to be written. The
 * service must have been recorded since @x was submitted, or mention it; or the client, which waits for the answer.
 */
static bool is_overdue(const struct bsa_fold *f, const struct bsa_exec *x)
{
	const struct bsa_execution *fact = &x->fact;
	bool failed = fact->status != BSA_STATUS_NONE && fact->status != BSA_STATUS_UNKNOWN;
	bool early = precedes_service(f, x);
	bool heard = (!early && f->voices.heard[x->sched.instance & (BSA_INSTANCES - 1)] > fact->deadline) ||
	             (!(early && bsa_exec_launched(x)) && bsa_fold_recorded_until(f, fact->trace) > fact->deadline);
	bool in_time = has_boundary(x, BSA_RESULT_WRITTEN) && fact->at[BSA_RESULT_WRITTEN] <= fact->deadline;

	return f->finished && !x->evicted && !f->options.horizon_ns && fact->deadline && heard && !in_time && !failed &&
	       !has_boundary(x, last_of(x)) && is_open(f, x);
}

/*
 * The app's call failed after the deadline of @x, and the service, which was recorded, had not answered: it answered
 * later, hung or died. The app had no answer in time. What the service answers with a failure is no miss, and a failure
 * that it reported may be lost, or its summary may have been about to be written.
 */
static bool is_unanswered(const struct bsa_fold *f, const struct bsa_exec *x)
{
	const struct bsa_execution *fact = &x->fact;
	bool failed = fact->status != BSA_STATUS_NONE && fact->status != BSA_STATUS_UNKNOWN;
	bool full = !x->has_client && !x->has_service, is_left = bsa_exec_was_left(x);
	/* At the return: BSA_NEVER is later, too. */
	bool unended = fact->at[BSA_RUN_ENDED] > fact->at[BSA_RETURNED];
	bool unserved = full && unended && !has_boundary(x, BSA_RESULT_WRITTEN) && !is_untold(f, BSA_RUN_ENDED) &&
	                !is_untold(f, BSA_RESULT_WRITTEN);

	return failed && fact->deadline && fact->sides == BSA_SIDES_BOTH && !bsa_exec_may_be_launch(x) &&
	       !bsa_exec_launched(x) && has_boundary(x, BSA_RETURNED) && fact->at[BSA_RETURNED] > fact->deadline &&
	       (unserved || (is_left && has_boundary(x, BSA_RESULT_WRITTEN))) &&
	       !is_lost(f, bsa_exec_first_seen(x), fact->at[BSA_RETURNED]);
}

/*
 * The app's call to launch @x failed before the service answered it: so @x had failed for the app by then, whatever
 * the service did with it afterwards.
 */
static bool is_failed_launch(const struct bsa_fold *f, const struct bsa_exec *x)
{
	const struct bsa_execution *fact = &x->fact;

	return bsa_exec_launched(x) && x->returned != BSA_STATUS_UNKNOWN && x->returned != BSA_STATUS_NONE &&
	       has_boundary(x, BSA_RETURNED) && has_boundary(x, BSA_RESULT_WRITTEN) &&
	       fact->at[BSA_RETURNED] < fact->at[BSA_RESULT_WRITTEN] && fact->sides == BSA_SIDES_BOTH &&
	       !is_lost(f, bsa_exec_first_seen(x), fact->at[BSA_RETURNED]);
}

static void set_miss(const struct bsa_fold *f, struct bsa_exec *x)
{
	struct bsa_execution *fact = &x->fact;
	int64_t told = fact->lateness;
	uint64_t end = exec_end_of(x), ended = has_boundary(x, BSA_RUN_ENDED) ? fact->at[BSA_RUN_ENDED] : end;
	/* An execution without a deadline has this status where a loop took longer than it may. */
	bool says_missed = (!x->deadline_said || fact->deadline || fact->duration) &&
	                   (fact->status == BSA_STATUS_MISSED_DEADLINE_TRANSIENT ||
	                    fact->status == BSA_STATUS_MISSED_DEADLINE_PERSISTENT);

	/* The service gave it up; not where that was after its client had left. */
	bool is_given_up = fact->missed_at != BSA_NEVER && x->miss_stage < BSA_STAGE_DONE &&
	                   !(bsa_exec_was_left(x) && fact->missed_at > fact->at[BSA_RETURNED]);

	fact->lateness = 0;
	if (bsa_exec_is_trial(x))
		return;
	if (is_failed_launch(f, x) && fact->status != BSA_STATUS_NONE) {
		if (fact->deadline && fact->at[BSA_RETURNED] > fact->deadline) {
			fact->miss = BSA_MISS_LATE;
			fact->lateness = (int64_t)(fact->at[BSA_RETURNED] - fact->deadline);
		}
		return;
	}
	if (is_given_up)
		set_unfinished_miss(fact, fact->missed_at, told);
	else if (says_missed)
		set_unfinished_miss(fact, ended, lateness_at(f, x, ended));
	else if (fact->status == BSA_STATUS_NONE && fact->deadline && end != BSA_NEVER && end > fact->deadline) {
		fact->miss = BSA_MISS_LATE;
		fact->lateness = (int64_t)(end - fact->deadline);
	} else if (is_unanswered(f, x)) {
		fact->miss = BSA_MISS_LATE;
		fact->lateness = (int64_t)(fact->at[BSA_RETURNED] - fact->deadline);
	} else if (is_overdue(f, x)) {
		fact->miss = BSA_MISS_LATE;
		fact->lateness = BSA_LATENESS_UNKNOWN;
	}
}

/* ---- all of it ---- */

static void set_who(struct bsa_fold *f, struct bsa_exec *x)
{
	struct bsa_execution *fact = &x->fact;
	const struct bsa_model_known *m = NULL;
	bool is_launch = bsa_exec_launched(x) || (bsa_exec_may_be_launch(x) && x->returned == BSA_STATUS_NONE);

	if (!x->model && x->stream->model)
		m = bsa_table_find(&f->world.models, x->stream->model);
	if (m) {
		x->model_priority = m->fact.priority;
		x->model_estimate = m->fact.estimate_ns ? m->fact.estimate_ns : BSA_NEVER;
	}
	if (fact->priority == 255)
		fact->priority = x->model_priority;
	if (fact->estimate == BSA_NEVER)
		fact->estimate = x->model_estimate;
	/*
	 * The status that the app received; the answer to a launch counts only if it failed, or if it
	 * certainly was no launch.
	 */
	fact->status = is_launch ? x->signalled : x->returned;
	if (fact->status == BSA_STATUS_UNKNOWN)
		fact->status = x->ended != BSA_STATUS_UNKNOWN ? x->ended : x->served;
}

static void set_scheduled(struct bsa_exec *x)
{
	struct bsa_execution *fact = &x->fact;
	bool known = x->scheduled && x->end_noted && fact->phase[BSA_RUN] != BSA_NEVER;

	fact->lane = known && has_boundary(x, BSA_DISPATCHED) ? x->sched.lane : -1;
	fact->idle = x->scheduled && x->sched.idle;
	fact->bypassed = x->sched.bypassed;
	memcpy(fact->waited, x->sched.waited, sizeof(fact->waited));
	fact->stalled = x->sched.stalled;
	fact->no_cpu = x->sched.no_cpu;
	fact->preemptions = x->told_stops > x->stops ? x->told_stops : x->stops;
}

/* Counts of what was seen are the counts only where all of it was. */
static void unset_counts(const struct bsa_fold *f, struct bsa_exec *x)
{
	struct bsa_execution *fact = &x->fact;
	const uint64_t *at = fact->at;
	bool ended = has_boundary(x, BSA_RUN_ENDED),
	     on_lane = has_boundary(x, BSA_DISPATCHED) || fact->phase[BSA_RUN] != BSA_NEVER;

	if (was_unsent(f, x)) { /* its service had nothing of it to count */
		fact->bypassed = BSA_COUNT_UNKNOWN;
		return;
	}
	if (!has_all_lookups(f, x))
		fact->lookups = fact->misses = BSA_COUNT_UNKNOWN;
	if (!x->has_service && (!ended || !on_lane || fact->phase[BSA_RUN] == BSA_NEVER))
		fact->preemptions = BSA_COUNT_UNKNOWN;
	if (!ended ||
	    (x->scheduled &&
	     (x->sched.open || x->sched.uncertain || x->sched.bypassed_more || !has_boundary(x, BSA_ENQUEUED) ||
	      bsa_schedule_is_unsure(f->schedule, x->sched.instance, at[BSA_ENQUEUED], at[BSA_RUN_ENDED]))) ||
	    (!x->scheduled && fact->phase[BSA_RUN]))
		fact->bypassed = BSA_COUNT_UNKNOWN;
}

/*
 * The schedule placed the execution, and what it could place adds up to something else than the boundaries
 * do: as after a resume on one lane and an end on another.
 */
static bool is_misplaced(const struct bsa_exec *x)
{
	const struct bsa_execution *fact = &x->fact;
	uint64_t queue = fact->queue != BSA_NEVER ? fact->queue : 0,
		 preempted = fact->preempted != BSA_NEVER ? fact->preempted : 0;

	if (!x->scheduled || fact->sides == BSA_SIDES_CLIENT)
		return false;
	if (x->sched.sliced &&
	    x->sched.on_native) /* the execution had lanes, although its service has the native policy */
		return true;
	return x->sched.ready_ns != queue + preempted ||
	       ((x->sched.sliced || x->sched.lane_ns) && x->sched.lane_ns != fact->run);
}

/* The service gave it up for its deadline, and the app was answered well and in time. */
static bool is_missed_and_met(const struct bsa_exec *x)
{
	const struct bsa_execution *fact = &x->fact;

	return fact->status == BSA_STATUS_NONE && fact->deadline && fact->miss != BSA_MISS_NONE &&
	       exec_end_of(x) <= fact->deadline;
}

static struct tiling tiling_of(const struct bsa_fold *f, const struct bsa_exec *x)
{
	if (bsa_exec_is_trial(x))
		return TILING(tried);
	if (bsa_exec_launched(x))
		return TILING(launched);
	if (bsa_exec_was_left(x))
		return TILING(left);
	if (was_unsent(f, x))
		return TILING(unsent);
	return has_boundary(x, BSA_FENCED) ? TILING(fenced) : TILING(answered);
}

/*
 * Which kinds of events of @x were not recorded, although nothing was lost: events before and after each were. One
 * execution is enough to show that the session does not have a kind, if there is no event of it at all. What was
 * answered with success has run, whichever of its other events are there, so two missing kinds do not hide each other.
 */
static uint64_t missing_of(const struct bsa_fold *f, const struct bsa_exec *x)
{
	const uint64_t *at = x->fact.at;
	uint64_t first = bsa_exec_first_seen(x), ret = 0;
	bool on_lane = has_boundary(x, BSA_DISPATCHED), ended = has_boundary(x, BSA_RUN_ENDED);
	uint64_t began = f->voices.began[x->sched.instance & (BSA_INSTANCES - 1)];
	/* the service was recorded before it could get ready, or run */
	bool read = has_boundary(x, BSA_REQUEST_READ) || has_boundary(x, BSA_DECODED) ||
	            (began && has_boundary(x, BSA_SUBMITTED) && at[BSA_SUBMITTED] >= began);
	bool known = read || has_boundary(x, BSA_ENQUEUED);
	/* the call that launches an execution returns before that has run */
	bool succeeded = x->returned == BSA_STATUS_NONE && !bsa_exec_launched(x) && !bsa_exec_may_be_launch(x);

	if (first == BSA_NEVER || x->has_service || x->late_start || is_lost(f, first, bsa_exec_last_seen(x)))
		return 0;
	if (x->fact.path == BSA_PATH_BURST && has_boundary(x, BSA_DECODED) && !has_all_lookups(f, x))
		ret |= UINT64_C(1) << BSA_slot_lookup;
	if (read && (on_lane || succeeded || x->ended == BSA_STATUS_NONE) && !has_boundary(x, BSA_ENQUEUED))
		ret |= UINT64_C(1) << BSA_sched_enqueue;
	if (ended && x->lane < BSA_LANE_NATIVE && !on_lane &&
	    (has_boundary(x, BSA_ENQUEUED) || (read && x->ended == BSA_STATUS_NONE)))
		ret |= UINT64_C(1) << BSA_sched_dispatch;
	if (!ended &&
	    ((known && succeeded) || ((on_lane || has_boundary(x, BSA_ENQUEUED)) && x->fact.path != BSA_PATH_FENCED &&
	                              has_boundary(x, BSA_RESULT_WRITTEN) && first != at[BSA_RESULT_WRITTEN])))
		ret |= UINT64_C(1) << BSA_exec_end;
	/* sched_enqueue has the deadline, too */
	if (has_boundary(x, BSA_REQUEST_WRITTEN) && has_boundary(x, BSA_RETURNED) && !has_boundary(x, BSA_SUBMITTED) &&
	    !has_boundary(x, BSA_ENQUEUED))
		ret |= UINT64_C(1) << BSA_exec_submit;
	return ret;
}

void bsa_exec_judge(struct bsa_fold *f, struct bsa_exec *x)
{
	struct bsa_execution *fact = &x->fact;
	struct tiling t;
	uint64_t first;
	size_t came;
	bool whole, all, known_kind;

	take_answer(x);
	/*
	 * The time for trial runs is limited; a deadline is that of the preparation. What gives a trial run
	 * one is not so.
	 */
	if (bsa_exec_is_trial(x) && (fact->deadline || fact->duration || fact->missed_at != BSA_NEVER)) {
		bsa_fold_absurd(f);
		fact->deadline = fact->duration = 0;
		fact->missed_at = BSA_NEVER;
	}
	t = tiling_of(f, x);
	whole = drop_absurd(f, x, t);
	if (!whole)
		first = bsa_exec_first_seen(x);
	else /* the execution was submitted before all of its boundaries, and before others perhaps not */
		first = earlier(earlier(earlier(fact->at[BSA_SUBMITTED], fact->at[BSA_FENCED]),
		                        earlier(fact->at[BSA_SIGNALLED], fact->at[BSA_RETURNED])),
		                earlier(fact->at[BSA_RESULT_WRITTEN], fact->at[BSA_RESULT_READ]));
	came = came_to(f, x, t);
	fact->sides = sides_of(f, x, first);
	all = !bsa_exec_may_be_launch(x) && (fact->path != BSA_PATH_FENCED || is_of_known_kind(f, x)) &&
	      ((whole && fact->sides == BSA_SIDES_BOTH) || has_all(f, x, t, came));
	set_who(f, x);
	if (whole && came == t.n)
		set_run(f, x);
	else
		set_phases(f, x, t, came);

	/* Phases that its path does not have are 0, unless it may be a launch. */
	known_kind = all || is_of_known_kind(f, x);
	for (size_t i = 0; known_kind && i < t.n_lacks; i++)
		fact->phase[t.lacks[i]] = 0;
	/* Not written: a loss may hide it, and that the client read it. */
	if (bsa_exec_was_left(x) && !has_boundary(x, BSA_RESULT_WRITTEN))
		fact->phase[BSA_RETURN] = fact->phase[BSA_FINISH] = BSA_NEVER;
	unset_doubtful(f, x);
	/*
	 * Redone work without a recorded preemption: the preemption was lost, so the times on and off lanes
	 * are unknown.
	 */
	if (fact->redo && fact->redo != BSA_NEVER && !x->stops && !x->told_stops)
		fact->phase[BSA_RUN] = fact->phase[BSA_PREEMPTED] = BSA_NEVER;
	fact->run = fact->phase[BSA_RUN];
	fact->queue = fact->phase[BSA_QUEUE];
	fact->preempted = fact->phase[BSA_PREEMPTED];
	fact->slots = fact->phase[BSA_SLOTS];
	if (fact->redo != BSA_NEVER && fact->run != BSA_NEVER && fact->redo > fact->run)
		fact->redo = BSA_NEVER;

	fact->quality = quality_of(f, x, first, all);
	fact->e2e = bsa_exec_may_be_launch(x) || bsa_exec_is_trial(x) || !is_end_known(f, x)
	                    ? BSA_NEVER
	                    : time_between(x, first_of(x), last_of(x));
	/* It has no other end, if none is lost. */
	if (bsa_exec_was_left(x) && !has_boundary(x, BSA_RESULT_WRITTEN) && is_end_known(f, x) &&
	    !is_lost(f, first, f->now))
		fact->e2e = time_between(x, first_of(x), BSA_RETURNED);
	fact->cold = -1; /* a lookup of it missed, or surely none did */
	if (fact->path == BSA_PATH_BURST && (fact->misses || has_all_lookups(f, x)))
		fact->cold = fact->misses > 0;
	f->missing |= missing_of(f, x);
	set_miss(f, x);
	/* If its events contradict each other, which of them are right is unknown. */
	if (fact->quality == BSA_QUALITY_COMPLETE && (is_misplaced(x) || is_missed_and_met(x))) {
		bsa_fold_absurd(f);
		fact->quality = BSA_QUALITY_GAP;
	}
	set_scheduled(x);
	unset_counts(f, x);
	if (bsa_exec_is_trial(x)) /* a trial run has no slots */
		fact->lookups = fact->misses = 0;
}
