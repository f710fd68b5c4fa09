/* trace_judge.c -- see trace_judge.h. */
#include "trace_judge.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { UNDER_WAY_MAX = 1 << 16, BUCKETS = 1 << 14, KNOWN_MAX = 1 << 20, OBJECTIONS_SHOWN = 10 };
enum { LANES = 64, NO_LANES = 254, NO_LANE = 255 }; /* with the policy native no execution waits for a lane */
#define NEVER UINT64_MAX
#define LATE_NS                                                  \
	(400 * (int64_t)(terms.tolerance_ns ? terms.tolerance_ns \
	                                    : 100000)) /* a clock is read before its event is written */

/* In the order of their times; but the answer to the launch of a fenced execution comes earlier. */
enum boundary {
	SUBMITTED,
	ASKED,
	TAKEN,
	DECODED,
	FENCED,
	ENQUEUED,
	DISPATCHED,
	ENDED,
	ANSWERED,
	HEARD,
	RETURNED,
	SIGNALLED,
	BOUNDARIES
};

static const char *const boundary_names[BOUNDARIES] = {
	"exec_submit",
	"fmq_write of the request",
	"fmq_read of the request",
	"request_decode",
	"fence_wait",
	"sched_enqueue",
	"sched_dispatch",
	"exec_end",
	"fmq_write of the result",
	"fmq_read of the result",
	"exec_return",
	"fence_signal",
};

/* The phase that a boundary ends. */
static const char *const phase_names[BOUNDARIES] = {
	"", "prepare", "send", "decode", "fence", "slots", "queue", "run", "reply", "return", "finish", "signal",
};

struct exec {
	uint64_t id;
	struct exec *next;
	uint64_t at[BOUNDARIES], compact_at[BOUNDARIES];
	uint8_t path, fallback, status, returned, lane;
	uint32_t model;
	/* its time on the lane, and off it */
	bool on_lane, dispatched;
	bool stalled; /* off it because its thread waits for a page: it may end well without another lane */
	bool lost;    /* off it because its thread waited for a page; it may be ready again */
	uint64_t stretch, last_ns, run_ns, preempted_ns, redo_ns, end_redo_ns, cpu_ns;
	uint64_t lookups, misses, fetches, preemptions, missed_deadlines, deadline;
	bool told_returned; /* reported by deadline_miss */
	bool has_delay;
	uint64_t request_slept, result_blocked, result_slept, delay_ns, gap_ns, turns;
	/* the values in exec_client and exec_service */
	bool has_client, has_service;
	uint64_t client_status, service_status, service_lane, counted[3], told[8];
};

/* ---- faults ---- */

static struct judge_terms terms;
static uint64_t objections;

static void object(const char *format, va_list list)
{
	if (++objections > OBJECTIONS_SHOWN)
		return;
	vprintf(format, list);
	putchar('\n');
}

void judge_object(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	object(format, list);
	va_end(list);
}

/* The execution began before all processes were recorded. */
static bool is_late(const struct exec *x)
{
	enum boundary first = x->path == NBT_path_prepare ? ENQUEUED : SUBMITTED;
	uint64_t began = x->at[first] != NEVER ? x->at[first] : x->compact_at[first];

	return terms.from && (began == NEVER || began < terms.from);
}

/* exec 0x2000300000001: ... */
static void object_to(const struct exec *x, const char *format, va_list list)
{
	char text[400];

	if (is_late(x))
		return;
	vsnprintf(text, sizeof(text), format, list);
	judge_object("exec %#" PRIx64 ": %s", x->id, text);
}

static void __attribute__((format(printf, 2, 3))) wrong(const struct exec *x, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (!terms.holes)
		object_to(x, format, list);
	va_end(list);
}

/* A fault whatever was lost of the execution. */
static void __attribute__((format(printf, 2, 3))) surely_wrong(const struct exec *x, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	object_to(x, format, list);
	va_end(list);
}

/* ---- numbered objects: streams, connections, models, instances ---- */

enum kind { INSTANCE = 1, CONNECTION, MODEL, STREAM, BUFFER };

struct thing {
	uint64_t key; /* kind << 32 | number */
	uint8_t path;
	bool untold;
	uint64_t submitted, last_submitted, taken, last_taken;
};

static struct thing things[KNOWN_MAX];
static uint32_t n_things, places[KNOWN_MAX * 2]; /* from 1 */

static size_t scattered(uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15u) >> 40);
}

static uint32_t *place_of(uint64_t key)
{
	size_t i = scattered(key) % (KNOWN_MAX * 2);

	while (places[i] && things[places[i] - 1].key != key)
		i = (i + 1) % (KNOWN_MAX * 2);
	return &places[i];
}

/* NULL: no event announced it. */
static struct thing *thing_of(enum kind kind, uint64_t number)
{
	uint32_t place = *place_of((uint64_t)kind << 32 | (uint32_t)number);

	return place ? &things[place - 1] : NULL;
}

static struct thing *thing_new(enum kind kind, uint64_t number)
{
	uint64_t key = (uint64_t)kind << 32 | (uint32_t)number;
	uint32_t *place = place_of(key);

	if (!*place) {
		if (n_things == KNOWN_MAX) {
			fprintf(stderr, "trace_check: more streams, models and clients than can be kept\n");
			exit(2);
		}
		things[n_things].key = key;
		*place = ++n_things;
	}
	return &things[*place - 1];
}

/* A @number of 0 names no object, and so is always right. */
static void expect_known(const struct text_event *e, enum kind kind, uint64_t number, const char *what)
{
	if (!number || terms.from || terms.holes || thing_of(kind, number))
		return;
	judge_object("%s of a %s that no event announced: %" PRIu64, text_names[e->what], what, number);
	thing_new(kind, number)->untold = true; /* the fault is reported once */
}

/* ---- executions under way ---- */

static struct exec *buckets[BUCKETS], *spare;
static unsigned under_way, most_under_way;

static struct exec **find(uint64_t id)
{
	struct exec **at = &buckets[scattered(id) % BUCKETS];

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static struct exec *exec_new(uint64_t id)
{
	struct exec *x = spare;

	if (++under_way > UNDER_WAY_MAX) {
		fprintf(stderr, "trace_check: more than %d executions are never over\n", UNDER_WAY_MAX);
		exit(objections ? 1 : 2);
	}
	if (under_way > most_under_way)
		most_under_way = under_way;
	if (x)
		spare = x->next;
	else
		x = malloc(sizeof(*x));
	assert(x);
	memset(x, 0, sizeof(*x));
	memset(x->at, 0xff, sizeof(x->at));
	memset(x->compact_at, 0xff, sizeof(x->compact_at));
	x->id = id;
	return x;
}

static struct exec *exec_of(const struct text_event *e)
{
	uint64_t id = text_get(e, "exec");
	struct exec **at = find(id);
	const struct thing *stream;

	if (!*at) {
		*at = exec_new(id);
		stream = thing_of(STREAM, id >> 32);
		if (stream && !stream->untold) /* unless its exec_submit was lost */
			(*at)->path = stream->path;
		if (!id || !(uint32_t)id || !(id >> 32))
			wrong(*at, "that is no number of an execution");
	}
	return *at;
}

static void exec_free(struct exec *x)
{
	struct exec **at = find(x->id);

	assert(*at == x);
	*at = x->next;
	x->next = spare;
	spare = x;
	under_way--;
}

/* ---- lanes ---- */

static struct lane {
	uint64_t begin, end; /* the last complete stretch */
	uint64_t last;       /* the execution of that stretch */
	uint64_t awaited;    /* the execution that must be next */
} lanes[1 << 12][LANES];     /* by instance */
static unsigned awaiting;    /* lanes that await an execution */

static struct lane *lane_of(const struct exec *x, uint64_t lane)
{
	static struct lane none;

	if (lane < LANES)
		return &lanes[x->id >> 52][lane];
	none = (struct lane){ 0 };
	if (lane != NO_LANES)
		wrong(x, "on a lane that cannot be: %" PRIu64, lane);
	return &none;
}

static void on_lane(struct exec *x, const struct text_event *e)
{
	struct lane *lane = lane_of(x, text_get(e, "lane"));

	if (x->on_lane)
		wrong(x, "%s, while on lane %d already", text_names[e->what], x->lane);
	if (lane->awaited && lane->awaited != x->id)
		wrong(x, "on lane %" PRIu64 " next, which was vacated for exec %#" PRIx64, text_get(e, "lane"),
		      lane->awaited);
	awaiting -= lane->awaited != 0;
	lane->awaited = 0;
	x->lane = (uint8_t)text_get(e, "lane");
	x->on_lane = true;
	if (x->stalled)
		wrong(x, "on a lane again, and not ready before");
	x->stalled = x->lost = false;
	if (x->dispatched)
		x->preempted_ns += e->at - x->stretch;
	x->stretch = e->at;
}

/* Stretches come in the order of their ends, so a stretch that overlaps any other overlaps the one before. */
static void off_lane(struct exec *x, uint64_t at)
{
	struct lane *lane = lane_of(x, x->lane);

	if (x->stretch < lane->end && at > lane->begin)
		wrong(x, "on lane %d from %" PRIu64 " to %" PRIu64 ", while exec %#" PRIx64 " was there until %" PRIu64,
		      x->lane, x->stretch, at, lane->last, lane->end);
	lane->begin = x->stretch;
	lane->end = at;
	lane->last = x->id;
	x->last_ns = at - x->stretch;
	x->run_ns += at - x->stretch;
	x->stretch = at;
	x->on_lane = false;
}

/* The execution was given a lane, and ended before it was on it. */
static void not_awaited(const struct exec *x)
{
	for (int i = 0; awaiting && i < LANES; i++)
		if (lanes[x->id >> 52][i].awaited == x->id) {
			lanes[x->id >> 52][i].awaited = 0;
			awaiting--;
		}
}

/* ---- the two forms, and the witness ---- */

struct agreement {
	const char *of;
	uint64_t n, strays, most, whose;
	uint64_t doublings[65]; /* how many differ by less than 1, 2, 4... ns */
	const char *where;
};
static struct agreement forms = { .of = "phases of the two forms" }, log_ends = { .of = "times of the log" };

static void compare(struct agreement *a, const struct exec *x, const char *where, uint64_t one, uint64_t other)
{
	uint64_t apart = one > other ? one - other : other - one;

	a->n++;
	a->doublings[apart ? 64 - __builtin_clzll(apart) : 0]++;
	a->strays += apart > terms.tolerance_ns;
	if (apart >= a->most) {
		a->most = apart;
		a->whose = x->id;
		a->where = where;
	}
}

static void judge_agreement(const struct agreement *a)
{
	if (a->strays * 1000 > a->n * terms.strays)
		judge_object("%" PRIu64 " of %" PRIu64 " %s differ by more than %" PRIu64 " ns, the most by %" PRIu64
		             " ns: exec %#" PRIx64 ", %s",
		             a->strays, a->n, a->of, terms.tolerance_ns, a->most, a->whose, a->where);
}

/* ---- the end of an execution ---- */

static uint64_t n_complete, n_refused, n_preempted, n_cut, n_late, n_trials;

static bool launched(const struct exec *x)
{
	return x->path == NBT_path_fenced && (x->at[SIGNALLED] != NEVER || x->compact_at[SIGNALLED] != NEVER);
}

/* A trial run has no request and no answer. */
static bool is_trial(const struct exec *x)
{
	return x->path == NBT_path_prepare;
}

/* The boundaries of the tiling of @x. */
static bool tiles(const struct exec *x, enum boundary b)
{
	if (is_trial(x))
		return b >= ENQUEUED && b <= ENDED;
	if (launched(x))
		return b <= ENDED || b == SIGNALLED;
	return b != SIGNALLED && (b != FENCED || x->path == NBT_path_fenced);
}

static bool may_miss(const struct exec *x, enum boundary b)
{
	bool refused = x->lane == NO_LANE;

	if (is_trial(x))
		return b == DISPATCHED && refused;
	return b == DECODED ? refused && x->status : (b == FENCED || b == ENQUEUED || b == DISPATCHED) && refused;
}

/* The time that the phase which ends at @b adds to the others; for run, in full, the sum of its stretches. */
static uint64_t phase_ns(const struct exec *x, const uint64_t *at, enum boundary last, enum boundary b)
{
	return b == ENDED && at == x->at && x->dispatched ? x->run_ns + x->preempted_ns : at[b] - at[last];
}

static void judge_tiling(const struct exec *x, const uint64_t *at, const char *form)
{
	enum boundary first = BOUNDARIES, last = BOUNDARIES;
	uint64_t sum = 0;

	for (enum boundary b = SUBMITTED; b < BOUNDARIES; b++) {
		if (!tiles(x, b) || (at[b] == NEVER && may_miss(x, b)))
			continue;
		if (at[b] == NEVER) {
			wrong(x, "%s: there is no %s", form, boundary_names[b]);
			continue;
		}
		if (first == BOUNDARIES)
			first = last = b;
		if (at[b] < at[last]) {
			surely_wrong(x, "%s: %s is negative: %s %" PRIu64 " ns before %s", form, phase_names[b],
			             boundary_names[b], at[last] - at[b], boundary_names[last]);
			return;
		}
		sum += phase_ns(x, at, last, b);
		last = b;
	}
	if (first < last && sum != at[last] - at[first])
		wrong(x, "%s: the phases are %" PRIu64 " ns together, and end to end %" PRIu64, form, sum,
		      at[last] - at[first]);
}

/* The launch of a fenced execution is answered while the execution is under way. */
static void judge_launch(const struct exec *x, const uint64_t *at, const char *form)
{
	static const enum boundary marks[] = { ASKED, TAKEN, ANSWERED, HEARD, RETURNED };

	enum boundary last = SUBMITTED;

	for (size_t i = 0; launched(x) && i < sizeof(marks) / sizeof(*marks); i++) {
		if (marks[i] == ANSWERED && at == x->compact_at)
			continue; /* this path has no such boundary */
		if (at[marks[i]] == NEVER || at[marks[i]] < at[last])
			wrong(x, "%s: no %s, or before %s", form, boundary_names[marks[i]], boundary_names[last]);
		last = marks[i];
	}
}

static void judge_counts(const struct exec *x)
{
	static const char *const counts[] = { "lookups", "misses", "preemptions" };
	static const char *const fields[] = { "slept_ns of the request",
		                              "blocked_ns of the result",
		                              "redo_ns",
		                              "cpu_ns",
		                              "slept_ns of the result",
		                              "delay_ns",
		                              "gap_ns",
		                              "turns" };
	const uint64_t of_full[] = { x->lookups, x->misses, x->preemptions };
	const uint64_t told[] = { x->request_slept, x->result_blocked, x->end_redo_ns, x->cpu_ns,
		                  x->result_slept,  x->delay_ns,       x->gap_ns,      x->turns };

	for (int i = 0; i < 3; i++)
		if (of_full[i] != x->counted[i])
			wrong(x, "%s: %" PRIu64 " in full, %" PRIu64 " in compact", counts[i], of_full[i],
			      x->counted[i]);
	for (int i = 0; i < 8; i++)
		if (told[i] != x->told[i] && !(i == 1 && launched(x)) &&
		    !(i < 2 && is_trial(x))) /* the result of a launched execution is a fence */
			wrong(x, "%s: %" PRIu64 " in full, %" PRIu64 " in compact", fields[i], told[i], x->told[i]);
	if (x->service_status != x->status || x->client_status != x->returned || x->service_lane != x->lane)
		wrong(x,
		      "status, returned status, lane: %d, %d, %d in full, %" PRIu64 ", %" PRIu64 ", %" PRIu64
		      " in compact",
		      x->status, x->returned, x->lane, x->service_status, x->client_status, x->service_lane);
}

/*
 * Both clocks of a boundary are read before its events are written, and these before the next boundary,
 * however long each takes.
 */
static void judge_turns(const struct exec *x, enum boundary last, enum boundary b)
{
	const uint64_t *full = x->at, *compact = x->compact_at;

	if (compact[b] > full[b] || full[last] > compact[b])
		wrong(x, "%s at %" PRIu64 " in full, at %" PRIu64 " in compact, and %s at %" PRIu64, boundary_names[b],
		      full[b], compact[b], boundary_names[last], full[last]);
}

static void judge_forms(const struct exec *x)
{
	const uint64_t *full = x->at, *compact = x->compact_at;
	enum boundary last = is_trial(x) ? ENQUEUED : SUBMITTED;

	for (enum boundary b = last + 1; b < BOUNDARIES; b++) {
		if (!tiles(x, b))
			continue;
		if ((full[b] == NEVER) != (compact[b] == NEVER)) {
			wrong(x, "%s is in one form only", boundary_names[b]);
		} else if (full[b] != NEVER) {
			judge_turns(x, last, b);
			compare(&forms, x, phase_names[b], full[b] - full[last], compact[b] - compact[last]);
			last = b;
		}
	}
	judge_counts(x);
}

static void judge_rest(const struct exec *x)
{
	bool missed =
		x->status == NBT_status_missed_deadline_transient || x->status == NBT_status_missed_deadline_persistent;

	if ((x->lane == NO_LANE) == x->dispatched)
		wrong(x, "exec_end on lane %d, %s sched_dispatch", x->lane, x->dispatched ? "after a" : "without");
	if (x->misses && !x->fetches)
		wrong(x, "%" PRIu64 " slots were not known, and none was fetched", x->misses);
	if (x->end_redo_ns < x->redo_ns || x->end_redo_ns - x->redo_ns > x->last_ns)
		wrong(x,
		      "redo_ns of sched_preempt are %" PRIu64 " together, %" PRIu64
		      " in exec_end, after a last stretch of %" PRIu64,
		      x->redo_ns, x->end_redo_ns, x->last_ns);
	if (missed && !x->missed_deadlines && !is_trial(x))
		wrong(x, "it missed its deadline, without deadline_miss");
	/* Outputs are flushed to their file after exec_end, which may fail (docs/events.md). */
	if (!launched(x) && !is_trial(x) && !x->status != !x->returned &&
	    !(!x->status && x->returned == NBT_status_general_failure))
		wrong(x, "status %d in exec_end, %d in exec_return", x->status, x->returned);
}

static struct judge_witness *witnesses;
static size_t n_witnesses;

static int by_exec(const void *key, const void *item)
{
	uint64_t exec = *(const uint64_t *)key, other = ((const struct judge_witness *)item)->exec;

	return (exec > other) - (exec < other);
}

static void judge_witnessed(const struct exec *x, const uint64_t *at)
{
	struct judge_witness *w;
	uint64_t end = launched(x) ? at[SIGNALLED] : at[RETURNED];

	if (!terms.witnessed || is_trial(x))
		return;
	w = bsearch(&x->id, witnesses, n_witnesses, sizeof(*w), by_exec);
	if (!w || w->met) {
		wrong(x, "%s in the log", w ? "was met twice, and is once" : "is not");
		return;
	}
	w->met = true;
	if (!launched(x) && w->failed != (terms.full ? x->returned != 0 : x->client_status != 0))
		wrong(x, "it %s in the log, and not in the trace", w->failed ? "failed" : "did not fail");
	if (w->submitted > at[SUBMITTED] || w->returned < end)
		wrong(x,
		      "from %" PRIu64 " to %" PRIu64 " in the log, and not within that in the trace: %" PRIu64
		      " to %" PRIu64,
		      w->submitted, w->returned, at[SUBMITTED], end);
	else if (x->path == NBT_path_burst || x->path == NBT_path_sync) /* other paths wait for another thread, too */
		compare(&log_ends, x, "end to end", w->returned - w->submitted, end - at[SUBMITTED]);
}

/*
 * An execution answered well after its deadline has a miss; a little after it, the clock may have been read
 * before.
 */
static void judge_late(const struct exec *x)
{
	uint64_t end = launched(x) ? x->at[SIGNALLED] : x->at[RETURNED];

	if (!x->deadline || x->status || end == NEVER || is_trial(x))
		return;
	if (end > x->deadline && (int64_t)(end - x->deadline) > LATE_NS && !x->told_returned)
		wrong(x, "it was answered %" PRIu64 " ns after its deadline, without deadline_miss", end - x->deadline);
	if (end <= x->deadline && x->told_returned)
		wrong(x, "it was answered in time, with deadline_miss");
}

static void judge_over(struct exec *x)
{
	if (is_late(x)) {
		n_late++;
		exec_free(x);
		return;
	}
	if (x->path == NBT_path_fenced && terms.compact && !x->client_status) {
		x->compact_at[SIGNALLED] = x->compact_at[ANSWERED]; /* the fence is the result */
		x->compact_at[ANSWERED] = NEVER;
	}
	if (terms.holes && x->at[SUBMITTED] == NEVER && !thing_of(STREAM, x->id >> 32)) { /* the path is unknown */
		n_cut++;
		exec_free(x);
		return;
	}
	n_trials += is_trial(x);
	n_complete += !is_trial(x);
	n_refused += x->lane == NO_LANE && !is_trial(x);
	n_preempted += x->preemptions > 0 && !is_trial(x);
	if (terms.full) {
		judge_tiling(x, x->at, "full");
		judge_launch(x, x->at, "full");
		judge_late(x);
		judge_rest(x);
	}
	if (terms.compact) {
		judge_tiling(x, x->compact_at, "compact");
		judge_launch(x, x->compact_at, "compact");
	}
	if (terms.full && terms.compact)
		judge_forms(x);
	judge_witnessed(x, terms.full ? x->at : x->compact_at);
	exec_free(x);
}

static bool full_over(const struct exec *x)
{
	/* a fenced execution that was not launched has no fence */
	bool refused = x->lane == NO_LANE && x->returned;

	if (is_trial(x))
		return x->at[ENDED] != NEVER;
	return x->at[ENDED] != NEVER && x->at[RETURNED] != NEVER && x->at[ANSWERED] != NEVER &&
	       (x->path != NBT_path_fenced || refused || x->at[SIGNALLED] != NEVER);
}

static bool compact_over(const struct exec *x)
{
	return (x->has_client || is_trial(x)) && x->has_service;
}

static void look_over(struct exec *x)
{
	if ((!terms.full || full_over(x)) && (!terms.compact || compact_over(x)))
		judge_over(x);
}

/* ---- the events of an execution ---- */

static void reached(struct exec *x, enum boundary b, uint64_t at)
{
	if (x->at[b] != NEVER)
		surely_wrong(x, "%s twice", boundary_names[b]);
	x->at[b] = at;
}

static void on_message(struct exec *x, const struct text_event *e)
{
	struct thing *stream = thing_of(STREAM, x->id >> 32);
	uint64_t queue = text_get(e, "queue");
	bool asks = queue == NBT_queue_request || queue == NBT_queue_call_request,
	     gives = e->what == NBT_EVENT_fmq_write;

	reached(x, asks ? (gives ? ASKED : TAKEN) : (gives ? ANSWERED : HEARD), e->at);
	if (gives && !asks)
		x->result_blocked = text_get(e, "blocked_ns");
	if (!gives)
		*(asks ? &x->request_slept : &x->result_slept) = text_get(e, "slept_ns");
	if ((queue == NBT_queue_call_request || queue == NBT_queue_call_result) == (x->path == NBT_path_burst) &&
	    x->at[SUBMITTED] != NEVER)
		wrong(x, "path %d, queue %" PRIu64, x->path, queue);
	if (asks && !gives && stream) {
		stream->taken++;
		if ((uint32_t)x->id > stream->last_taken)
			stream->last_taken = (uint32_t)x->id;
	}
}

static void on_submit(struct exec *x, const struct text_event *e)
{
	struct thing *stream;

	reached(x, SUBMITTED, e->at);
	if (!x->deadline)
		x->deadline = text_get(e, "deadline_ns");
	x->path = (uint8_t)text_get(e, "path");
	x->fallback = (uint8_t)text_get(e, "fallback");
	x->delay_ns = text_get(e, "delay_ns");
	x->gap_ns = text_get(e, "gap_ns");
	x->turns = text_get(e, "turns");
	if (x->gap_ns && !x->turns)
		wrong(x, "gap_ns, and no turns");
	if (x->delay_ns > x->gap_ns + x->gap_ns / 100 + 10000) /* the two times are from two clocks */
		wrong(x, "its thread was kept from the cpu for longer than since its call before");
	x->model = (uint32_t)text_get(e, "model");
	expect_known(e, STREAM, x->id >> 32, "stream");
	expect_known(e, MODEL, x->model, "model");
	stream = thing_of(STREAM, x->id >> 32);
	if (!stream)
		return;
	if (!stream->untold && stream->path != x->path)
		wrong(x, "path %d, in a stream of path %d", x->path, stream->path);
	stream->submitted++;
	if ((uint32_t)x->id > stream->last_submitted)
		stream->last_submitted = (uint32_t)x->id;
}

/* A trial run has a number and a model, as executions have. Its app may be number 0: a uid. */
static void on_trial(struct exec *x, const struct text_event *e)
{
	struct thing *stream = thing_of(STREAM, x->id >> 32);

	if (!text_get(e, "model"))
		wrong(x, "a trial run of no model");
	if (!stream)
		return;
	stream->submitted++;
	stream->taken++;
	if ((uint32_t)x->id > stream->last_taken)
		stream->last_submitted = stream->last_taken = (uint32_t)x->id;
}

static void on_decode(struct exec *x, const struct text_event *e)
{
	uint64_t model = text_get(e, "model");

	reached(x, DECODED, e->at);
	if (model && x->model && model != x->model)
		wrong(x, "of model %" PRIu32 " for the client, of %" PRIu64 " for the service", x->model, model);
}

static void on_preempt(struct exec *x, const struct text_event *e)
{
	struct lane *lane = lane_of(x, text_get(e, "lane"));

	if (!x->on_lane || x->lane != text_get(e, "lane"))
		wrong(x, "sched_preempt on lane %" PRIu64 ", where it is not", text_get(e, "lane"));
	if (x->on_lane)
		off_lane(x, e->at);
	x->preemptions++;
	x->stalled = x->lost = text_get(e, "mode") >= NBT_mode_stalled;
	x->redo_ns += text_get(e, "redo_ns");
	if (x->at[ENQUEUED] != NEVER && text_get(e, "asked_ns") > e->at - x->at[ENQUEUED])
		wrong(x, "asked to make room %" PRIu64 " ns ago, before it was ready", text_get(e, "asked_ns"));
	if (text_get(e, "redo_ns") > x->last_ns)
		wrong(x, "redo_ns %" PRIu64 " of a stretch of %" PRIu64, text_get(e, "redo_ns"), x->last_ns);
	x->last_ns = 0; /* if there is no other stretch */
	awaiting += !lane->awaited && text_get(e, "by");
	lane->awaited = text_get(e, "by");
	if (lane->awaited == x->id)
		wrong(x, "preempted by itself");
	if (!lane->awaited)
		wrong(x, "preempted by an execution without a number");
}

/* Once after each loss of a lane, at most. */
static void on_ready(struct exec *x)
{
	if (!x->stalled)
		wrong(x, "sched_ready%s", x->lost ? " twice" : ", and it was not stalled");
	x->stalled = false;
}

static void on_end(struct exec *x, const struct text_event *e)
{
	uint64_t lane = text_get(e, "lane");

	reached(x, ENDED, e->at);
	x->status = (uint8_t)text_get(e, "status");
	if (x->on_lane)
		off_lane(x, e->at);
	else if (x->dispatched)
		x->preempted_ns += e->at - x->stretch;
	if (x->dispatched && !x->status && x->stretch != e->at && !x->stalled)
		wrong(x, "it ended well, and was on no lane");
	if (x->dispatched && x->lane != lane)
		wrong(x, "exec_end on lane %" PRIu64 ", and it was on %d", lane, x->lane);
	x->lane = (uint8_t)lane;
	x->cpu_ns = text_get(e, "cpu_ns");
	x->end_redo_ns = text_get(e, "redo_ns");
	not_awaited(x);
}

static void on_lookup(struct exec *x, const struct text_event *e)
{
	if (x->at[ENQUEUED] != NEVER || x->at[ENDED] != NEVER)
		wrong(x, "slot_lookup after it was enqueued");
	if (text_get(e, "look") != NBT_look_first)
		return;
	x->lookups++;
	x->misses += !text_get(e, "hit");
}

static void on_fetch(struct exec *x, const struct text_event *e)
{
	if (!x->misses || x->at[ENQUEUED] != NEVER)
		wrong(x, "slot_fetch %s", x->misses ? "after it was enqueued" : "while no slot was missed");
	if (text_get(e, "stream") != x->id >> 32)
		wrong(x, "slot_fetch of stream %" PRIu64, text_get(e, "stream"));
	x->fetches++;
}

/*
 * The event has the lateness at its time; for an execution that is refused or given up, that may be negative.
 */
static void on_missed(struct exec *x, const struct text_event *e)
{
	uint64_t deadline = text_get(e, "deadline_ns"), stage = text_get(e, "stage");
	int64_t over = (int64_t)text_get(e, "over_ns"), late = (int64_t)(e->at - deadline);

	if (x->at[ENDED] != NEVER && stage != NBT_stage_returned)
		wrong(x, "deadline_miss after exec_end");
	if (stage == NBT_stage_returned && x->at[x->path == NBT_path_fenced ? SIGNALLED : RETURNED] != NEVER)
		wrong(x, "deadline_miss after its answer was returned");
	if (!deadline || late < over || late - over > LATE_NS)
		wrong(x, "deadline_miss of deadline %" PRIu64 " says %" PRId64 " ns, and it is %" PRId64, deadline,
		      over, late);
	x->missed_deadlines++;
	x->told_returned |= stage == NBT_stage_returned;
}

static void on_client(struct exec *x, const struct text_event *e)
{
	const struct text_field *at = text_list(e, "at");
	uint64_t began = text_get(e, "began");

	if (x->has_client)
		wrong(x, "exec_client twice");
	x->has_client = true;
	x->client_status = text_get(e, "status");
	x->path = (uint8_t)text_get(e, "path");
	x->compact_at[SUBMITTED] = began;
	for (unsigned i = 0; i < 3; i++) {
		static const enum boundary boundaries[] = { ASKED, HEARD, RETURNED };

		x->compact_at[boundaries[i]] = at->items[i] == NEVER ? NEVER : began + at->items[i];
	}
	x->told[4] = at->items[3];
	x->told[5] = text_get(e, "delay_ns");
	x->told[6] = text_get(e, "gap_ns");
	x->told[7] = text_get(e, "turns");
}

static void on_service(struct exec *x, const struct text_event *e)
{
	static const enum boundary boundaries[] = { DECODED, FENCED, ENQUEUED, DISPATCHED, ENDED, ANSWERED };
	static const char *const counts[] = { "lookups", "misses", "preemptions" };
	const struct text_field *at = text_list(e, "at");
	uint64_t began = text_get(e, "began");

	if (x->has_service)
		wrong(x, "exec_service twice");
	x->has_service = true;
	if (text_get(e, "path") == NBT_path_prepare)
		x->path = NBT_path_prepare;
	x->service_status = text_get(e, "status");
	x->service_lane = text_get(e, "lane");
	if (!terms.full) {
		x->lane = (uint8_t)x->service_lane;
		x->status = (uint8_t)x->service_status;
	}
	x->compact_at[TAKEN] = began;
	for (unsigned i = 0; i < 6; i++)
		x->compact_at[boundaries[i]] = at->items[i] == NEVER ? NEVER : began + at->items[i];
	if ((at->items[1] != NEVER) > (text_get(e, "path") == NBT_path_fenced))
		wrong(x, "compact: waited for fences, and is not fenced");
	if ((at->items[3] == NEVER) != (x->service_lane == NO_LANE))
		wrong(x, "compact: lane %" PRIu64 " and sched_dispatch do not agree", x->service_lane);
	for (int i = 0; i < 3; i++)
		x->counted[i] = text_get(e, counts[i]);
	memcpy(x->told, at->items + 6, 4 * sizeof(*x->told));
}

/* ---- events ---- */

static uint64_t counted[NBT_EVENTS];

static void of_thing(const struct text_event *e)
{
	switch (e->what) {
	case NBT_EVENT_service_state:
		thing_new(INSTANCE, text_get(e, "instance"));
		break;
	case NBT_EVENT_client_connect:
		thing_new(CONNECTION, text_get(e, "conn"));
		if (!terms.own)
			expect_known(e, INSTANCE, text_get(e, "conn") >> 20, "service");
		break;
	case NBT_EVENT_client_disconnect:
		expect_known(e, CONNECTION, text_get(e, "conn"), "client");
		break;
	case NBT_EVENT_model_prepare:
		expect_known(e, CONNECTION, text_get(e, "conn"), "client");
		if (text_get(e, "model"))
			thing_new(MODEL, text_get(e, "model"));
		if (!text_get(e, "step_ns") != !text_get(e, "look_ns"))
			judge_object("a model of which only one of step_ns and look_ns was measured");
		break;
	case NBT_EVENT_model_release:
		expect_known(e, MODEL, text_get(e, "model"), "model");
		break;
	case NBT_EVENT_stream_open:
		expect_known(e, CONNECTION, text_get(e, "conn"), "client");
		expect_known(e, MODEL, text_get(e, "model"), "model");
		thing_new(STREAM, text_get(e, "stream"))->path = (uint8_t)text_get(e, "path");
		break;
	case NBT_EVENT_stream_close:
		expect_known(e, STREAM, text_get(e, "stream"), "stream");
		break;
	case NBT_EVENT_buffer_allocate:
		expect_known(e, CONNECTION, text_get(e, "conn"), "client");
		if (text_get(e, "buffer"))
			thing_new(BUFFER, text_get(e, "buffer"));
		break;
	case NBT_EVENT_buffer_free:
	case NBT_EVENT_buffer_copy:
		expect_known(e, BUFFER, text_get(e, "buffer"), "buffer");
		break;
	default:
		break;
	}
}

static void of_lane(struct exec *x, const struct text_event *e)
{
	switch (e->what) {
	case NBT_EVENT_sched_dispatch:
		reached(x, DISPATCHED, e->at);
		on_lane(x, e);
		x->dispatched = true;
		break;
	case NBT_EVENT_sched_resume:
		if (!x->dispatched)
			wrong(x, "sched_resume before sched_dispatch");
		on_lane(x, e);
		break;
	case NBT_EVENT_sched_preempt:
		on_preempt(x, e);
		break;
	case NBT_EVENT_sched_ready:
		on_ready(x);
		break;
	default:
		if (!x->on_lane)
			wrong(x, "%s while on no lane", text_names[e->what]);
		break;
	}
}

static void of_exec(struct exec *x, const struct text_event *e)
{
	switch (e->what) {
	case NBT_EVENT_exec_submit:
		on_submit(x, e);
		break;
	case NBT_EVENT_fmq_write:
	case NBT_EVENT_fmq_read:
		on_message(x, e);
		break;
	case NBT_EVENT_request_decode:
		on_decode(x, e);
		break;
	case NBT_EVENT_fence_wait:
		reached(x, FENCED, e->at);
		break;
	case NBT_EVENT_slot_lookup:
		on_lookup(x, e);
		break;
	case NBT_EVENT_slot_fetch:
		on_fetch(x, e);
		break;
	case NBT_EVENT_sched_enqueue:
		reached(x, ENQUEUED, e->at);
		expect_known(e, STREAM, x->id >> 32, "stream");
		x->deadline = text_get(e, "deadline_ns"); /* a duration may have made the deadline earlier */
		if (is_trial(x))
			on_trial(x, e);
		break;
	case NBT_EVENT_exec_end:
		on_end(x, e);
		break;
	case NBT_EVENT_exec_delay:
		if (x->at[ENDED] == NEVER)
			wrong(x, "exec_delay before it ended");
		if (x->has_delay)
			surely_wrong(x, "exec_delay twice");
		x->has_delay = true;
		break;
	case NBT_EVENT_exec_return:
		reached(x, RETURNED, e->at);
		x->returned = (uint8_t)text_get(e, "status");
		break;
	case NBT_EVENT_fence_signal:
		reached(x, SIGNALLED, e->at);
		if (x->at[ENDED] != NEVER && x->cpu_ns != NEVER && !x->has_delay)
			wrong(x, "its cpu time was read, and it has no exec_delay");
		break;
	case NBT_EVENT_deadline_miss:
		on_missed(x, e);
		break;
	default:
		of_lane(x, e);
		break;
	}
}

static bool is_of_exec(const struct text_event *e)
{
	switch (e->what) {
	case NBT_EVENT_exec_state:
	case NBT_EVENT_buffer_reject:
		return false;
	case NBT_EVENT_deadline_miss:
		return text_get(e, "exec");
	default:
		for (unsigned i = 0; i < e->n_fields; i++)
			if (!strcmp(e->fields[i].name, "exec"))
				return true;
		return false;
	}
}

/* An execution that waits for a lane has waited since an earlier time; no other execution has such a time. */
static void judge_state(const struct text_event *e)
{
	uint64_t phase = text_get(e, "phase"), ready = text_get(e, "ready_ns"), since = text_get(e, "since");

	if (ready && phase != NBT_phase_queued && phase != NBT_phase_preempted)
		judge_object("exec_state of phase %" PRIu64 " has waited for a lane since %" PRIu64, phase, ready);
	if (ready > since)
		judge_object("exec_state at %" PRIu64 " has waited for a lane since %" PRIu64, since, ready);
}

void judge_event(const struct text_event *e, bool is_full)
{
	bool is_compact = e->what == NBT_EVENT_exec_client || e->what == NBT_EVENT_exec_service;
	struct exec *x;

	if (!is_full && !is_compact)
		return;
	counted[e->what]++;
	of_thing(e);
	if (e->what == NBT_EVENT_exec_state)
		judge_state(e);
	if (!is_of_exec(e))
		return;
	x = exec_of(e);
	if (e->what == NBT_EVENT_exec_client)
		on_client(x, e);
	else if (e->what == NBT_EVENT_exec_service)
		on_service(x, e);
	else
		of_exec(x, e);
	look_over(x);
}

/* ---- the whole recording ---- */

void judge_begin(const struct judge_terms *their_terms, struct judge_witness *witness, size_t n_witness)
{
	terms = *their_terms;
	witnesses = witness;
	n_witnesses = n_witness;
}

static void judge_incomplete(const struct exec *x)
{
	char lacks[400] = "";
	size_t n = 0;

	for (enum boundary b = SUBMITTED; terms.full && b < BOUNDARIES; b++)
		if (x->at[b] == NEVER && b != FENCED && b != ENQUEUED && b != DISPATCHED &&
		    (b != SIGNALLED || x->path == NBT_path_fenced) && (b == ENDED || !is_trial(x)))
			n += (size_t)snprintf(lacks + n, sizeof(lacks) - n, " %s,", boundary_names[b]);
	if (terms.compact && !x->has_client && !is_trial(x))
		n += (size_t)snprintf(lacks + n, sizeof(lacks) - n, " exec_client,");
	if (terms.compact && !x->has_service)
		n += (size_t)snprintf(lacks + n, sizeof(lacks) - n, " exec_service,");
	assert(n);
	lacks[n - 1] = 0; /* a comma */
	wrong(x, "is never over; there is no%s", lacks);
}

static void judge_left(void)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct exec *x = buckets[i]; x; x = x->next)
			if (terms.cut || is_late(x))
				n_cut++;
			else
				judge_incomplete(x);
	for (size_t i = 0; i < n_witnesses; i++)
		if (!witnesses[i].met && !terms.cut && !terms.from)
			judge_object("exec %#" PRIx64 " is in the log, and not in the trace", witnesses[i].exec);
}

/* Numbers are counted from 1, without a gap. */
static void judge_numbers(void)
{
	for (size_t i = 0; i < n_things && !terms.cut && !terms.from && terms.full; i++) {
		const struct thing *t = &things[i];

		if (t->submitted != t->last_submitted || t->taken != t->last_taken || t->submitted != t->taken)
			judge_object("stream %" PRIu32 ": %" PRIu64 " submitted, the last is number %" PRIu64
			             "; %" PRIu64 " taken, the last is number %" PRIu64,
			             (uint32_t)t->key, t->submitted, t->last_submitted, t->taken, t->last_taken);
	}
}

static void print_agreement(const struct agreement *a)
{
	uint64_t below = 0;
	int half = 0;

	if (!a->n)
		return;
	while ((below += a->doublings[half]) * 2 < a->n)
		half++;
	printf("%" PRIu64 " %s: half of them differ by less than %" PRIu64 " ns, %" PRIu64 " by more than %" PRIu64
	       ", the most by %" PRIu64 " (exec %#" PRIx64 ", %s)\n",
	       a->n, a->of, (uint64_t)1 << half, a->strays, terms.tolerance_ns, a->most, a->whose, a->where);
}

bool judge_end(void)
{
	if (!n_complete && !terms.cut)
		judge_object("there is not one execution");
	judge_left();
	judge_numbers();
	judge_agreement(&forms);
	judge_agreement(&log_ends);
	for (int i = 0; i < NBT_EVENTS; i++)
		if (counted[i])
			printf("%s %" PRIu64 "\n", text_names[i], counted[i]);
	printf("%" PRIu64 " trial runs\n", n_trials);
	printf("%" PRIu64 " executions: %" PRIu64 " never ran, %" PRIu64 " were preempted; %" PRIu64
	       " began before, %" PRIu64 " have no end; %u at once\n",
	       n_complete, n_refused, n_preempted, n_late, n_cut, most_under_way);
	print_agreement(&forms);
	print_agreement(&log_ends);
	if (objections > OBJECTIONS_SHOWN)
		printf("... and %" PRIu64 " more objections\n", objections - OBJECTIONS_SHOWN);
	printf("%s\n", objections ? "objected to" : "all well");
	return !objections;
}
