/* schedule_sim.c -- a service on a clock of its own; see schedule_sim.h. */
#include "analyzer/schedule_sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "policy/policy.h"
#include "policy/terms.h"

#define NEVER UINT64_MAX
#define US UINT64_C(1000)

enum { LIVE = 512, WORKERS = 24, SLOTS = 4, REFUSALS = 64 };
enum { LANE_NATIVE = BSA_LANE_NATIVE, LANE_NONE = BSA_LANE_NONE };
enum { MISS_TRANSIENT, MISS_PERSISTENT, MISS_LATE };
enum { OWNER_STREAM = 1, OWNER_EXEC = 2 };
enum { STATUS_GENERAL_FAILURE = 2, STATUS_INVALID_ARGUMENT = 4, STATUS_EXHAUSTED = 7 };
enum deadlines { ABORT, REFUSE, ADVISE };

enum state {
	FREE,
	COMES,   /* will be ready at next_at */
	ENTERS,  /* has emitted that, and is about to ask for a lane */
	WAITS,   /* until it gets one, or gives up at next_at */
	GETS_ON, /* has one, and emits that at next_at */
	RUNS,    /* its operation is over at next_at */
	STOPS,   /* has been asked to, and ends at next_at, on its lane */
	GIVES,   /* has emitted that it ended, and gives its lane at next_at */
	GAVE_UP  /* waits no more, and emits that at next_at */
};

struct live {
	struct nnb__policy_job job; /* first: the policy's word for it */
	enum state state;
	uint64_t next_at, ready_since, on_since, gives_up, redo_from, redo_ns, signal_at;
	uint32_t exec, worker, op, redo_until;
	size_t preemption; /* the last one, from 1 */
	uint8_t status, stage;
	bool begun, launched, preempted;
};

/* A client's thread. */
struct worker {
	uint64_t next_at;
	uint32_t stream, model, left;
	bool patient; /* waits for its fences */
};

struct service {
	struct nnb__policy policy;
	struct nnb__policy_app apps[SIM_APPS];
	enum deadlines deadlines;
	bool restarts;
	uint64_t asked_at[SIM_LANES];               /* since when the policy wants the lane at once; 0: it does not */
	uint64_t last_stop, last_ready, last_begin; /* events of a kind never come at the same time */
	uint64_t refusals[REFUSALS];                /* the last ones: they come alone, too */
	uint32_t numbers, n_refusals;
	uint32_t announced;       /* those that have emitted it, and are about to ask for a lane */
	uint32_t n_ready, n_over; /* executions so far */
};

struct world {
	struct sim *s;
	const struct sim_terms *terms;
	uint64_t series, hurry, delays, grain, now; /* hurry and delays: series, too */
	struct service services[SIM_SERVICES];
	struct worker workers[WORKERS];
	struct live live[LIVE];
	bool mapped[SIM_STREAMS][SLOTS];
	uint32_t n_workers;
	uint64_t odds_deadline, odds_miss, think_ns, tight_ns;
	size_t room_events, room_execs, room_slices, room_waits, room_preemptions;
};

/* ---- chance ---- */

uint64_t sim_random(uint64_t *series, uint64_t n)
{
	uint64_t x = splitmix_next(series);

	return n ? x % n : 0;
}

static uint64_t below(struct world *w, uint64_t n)
{
	return sim_random(&w->series, n);
}

static bool percent(struct world *w, unsigned n)
{
	return below(w, 100) < n;
}

/* Events that happen in this many percent of cases; never in a plain world. */
static bool odd(struct world *w, unsigned n)
{
	return percent(w, n) && !w->terms->plain;
}

/* A stretch of time: up to @ns, in whole grains, at least @least of them. Mostly short, sometimes long. */
static uint64_t a_while(struct world *w, uint64_t ns, uint64_t least)
{
	uint64_t most = percent(w, 80) ? ns / 4 : ns;

	return (below(w, most / w->grain + 1) + least) * w->grain;
}

/* ---- what is kept ---- */

#define MORE(w, what)                                                                               \
	(more((void **)&(w)->s->what, sizeof(*(w)->s->what), &(w)->s->n_##what, &(w)->room_##what), \
	 &(w)->s->what[(w)->s->n_##what - 1])

static void more(void **list, size_t size, size_t *n, size_t *room)
{
	if (*n == *room) {
		*room = *room ? *room * 2 : 256;
		*list = realloc(*list, *room * size);
		assert(*list);
	}
	memset((char *)*list + *n * size, 0, size);
	(*n)++;
}

static uint16_t size_of(enum bsa_kind kind)
{
	static const size_t sizes[] = {
#define K(name) sizeof(struct bsa_##name),
		BSA_KINDS(K)
#undef K
	};

	return (uint16_t)(sizeof(struct bsa_event) + (sizes[kind] + 7) / 8 * 8);
}

static void emit(struct world *w, uint64_t at, unsigned forms, uint32_t whose, enum bsa_kind kind,
                 const union sim_fields *of)
{
	struct sim_event *e = MORE(w, events);

	e->event = (struct bsa_event){ .at = at, .trace = 1, .kind = (uint16_t)kind, .size = size_of(kind) };
	e->of = *of;
	e->forms = (uint8_t)forms;
	e->order = (uint32_t)w->s->n_events;
	e->whose = whose;
	e->cpu = (uint8_t)below(w, 2);
}

/* An event of execution number @i. */
#define SAY(w, at, forms, i, name, ...)         \
	emit(w, at, forms, (i) + 1, BSA_##name, \
	     &(union sim_fields){ .name = { .exec = (w)->s->execs[i].exec, __VA_ARGS__ } })
/* An event that is of execution number @i, and does not have it. */
#define SAY_OF(w, at, i, name, ...) \
	emit(w, at, SIM_RARE, (i) + 1, BSA_##name, &(union sim_fields){ .name = { __VA_ARGS__ } })
/* One of none. */
#define TELL(w, at, name, ...) emit(w, at, SIM_RARE, 0, BSA_##name, &(union sim_fields){ .name = { __VA_ARGS__ } })

static struct sim_exec *exec_of(struct world *w, const struct live *l)
{
	return &w->s->execs[l->exec];
}

static struct service *service_of(struct world *w, const struct live *l)
{
	return &w->services[exec_of(w, l)->service];
}

static const struct sim_model *model_of(struct world *w, const struct live *l)
{
	return &w->s->models[exec_of(w, l)->model];
}

static bool is_native(struct world *w, const struct live *l)
{
	return w->s->services[exec_of(w, l)->service].native;
}

static uint8_t lane_of(struct world *w, const struct live *l)
{
	return is_native(w, l) ? LANE_NATIVE : (uint8_t)l->job.lane;
}

/* ---- how it ends ---- */

/* When a clock was read for the boundary at @at, after the one at *last. */
static uint64_t early(struct world *w, uint64_t at, uint64_t *last)
{
	uint64_t most = at - *last < w->terms->early_ns ? at - *last : w->terms->early_ns;

	*last = at;
	return at - sim_random(&w->hurry, most + 1);
}

/* Boundaries of @x, as a summary has them. */
static uint64_t summarize(struct world *w, const struct sim_exec *x, const enum bsa_boundary *which, unsigned n,
                          uint64_t *ret)
{
	uint64_t last = 0, began = early(w, x->at[which[0]], &last);

	for (unsigned i = 1; i < n; i++)
		ret[i - 1] = x->at[which[i]] == NEVER ? NEVER : early(w, x->at[which[i]], &last) - began;
	return began;
}

static void summarize_client(struct world *w, uint32_t i, uint64_t at)
{
	static const enum bsa_boundary which[] = { BSA_SUBMITTED, BSA_REQUEST_WRITTEN, BSA_RESULT_READ, BSA_RETURNED };
	const struct sim_exec *x = &w->s->execs[i];
	bool was_launched = x->at[BSA_SIGNALLED] != NEVER;
	struct bsa_exec_client e = { .exec = x->exec,
		                     .model = w->s->models[x->model].number,
		                     .path = x->path,
		                     .deadline_ns = x->deadline,
		                     .status = was_launched ? 0 : x->status };

	e.began = summarize(w, x, which, 4, e.at);
	e.at[3] = x->result.slept;
	emit(w, at + below(w, w->terms->summaries_late_ns + 1), SIM_COMPACT, i + 1, BSA_exec_client,
	     &(union sim_fields){ .exec_client = e });
}

static void summarize_service(struct world *w, uint32_t i, uint64_t at, bool signalled)
{
	const struct sim_exec *x = &w->s->execs[i];
	const enum bsa_boundary which[] = { BSA_REQUEST_READ,
		                            BSA_DECODED,
		                            BSA_FENCED,
		                            BSA_ENQUEUED,
		                            BSA_DISPATCHED,
		                            BSA_RUN_ENDED,
		                            signalled ? BSA_SIGNALLED : BSA_RESULT_WRITTEN };
	struct bsa_exec_service e = { .exec = x->exec,
		                      .model = w->s->models[x->model].number,
		                      .app = w->s->apps[x->app].key,
		                      .priority = x->priority,
		                      .path = x->path,
		                      .lane = x->lane < 0 ? LANE_NONE : (uint8_t)x->lane,
		                      .status = x->status,
		                      .lookups = (uint16_t)x->lookups,
		                      .misses = (uint16_t)x->misses,
		                      .preemptions = (uint16_t)x->preemptions,
		                      .nth_ready = x->nth_ready,
		                      .nth_over = x->nth_over,
		                      .n_ready = x->n_ready };

	e.began = summarize(w, x, which, 7, e.at);
	e.at[6] = x->request.slept;
	e.at[7] = signalled ? NEVER : x->result.blocked; /* a fence has no room to wait for */
	e.at[8] = x->redo;
	e.at[9] = x->cpu;
	memcpy(e.delays, x->delay, sizeof(e.delays));
	emit(w, at + below(w, w->terms->summaries_late_ns + 1), SIM_COMPACT, i + 1, BSA_exec_service,
	     &(union sim_fields){ .exec_service = e });
}

/* The answer, from @at on, to the app that has it at the end. */
static uint64_t answer(struct world *w, uint32_t i, uint64_t at, uint8_t status)
{
	struct sim_exec *x = &w->s->execs[i];
	uint8_t queue = x->path == BSA_PATH_BURST ? BSA_QUEUE_RESULT : BSA_QUEUE_CALL_RESULT;

	x->at[BSA_RESULT_WRITTEN] = at;
	x->result.blocked = percent(w, 5) ? below(w, 5 * US) : 0;
	SAY(w, at, SIM_FULL, i, fmq_write, .queue = queue, .items = 1, .blocked_ns = x->result.blocked);
	at += a_while(w, 20 * US, 1);
	x->at[BSA_RESULT_READ] = at;
	x->result.slept = percent(w, 50) ? below(w, 9 * US) : 0;
	x->result.spun = below(w, 5 * US);
	SAY(w, at, SIM_FULL, i, fmq_read, .queue = queue, .items = 1, .used = 1, .spun_ns = x->result.spun,
	    .slept_ns = x->result.slept, .wakeups = x->result.slept > 0);
	at += a_while(w, 5 * US, 1);
	x->at[BSA_RETURNED] = at;
	SAY(w, at, SIM_FULL, i, exec_return, .status = status);
	return at;
}

static void missed(struct world *w, const struct live *l, uint64_t at, uint8_t kind, uint8_t stage)
{
	struct sim_exec *x = exec_of(w, l);
	int64_t over = (int64_t)(at - x->deadline - below(w, 200));

	x->missed_at = at;
	x->stage = stage;
	if (kind != MISS_LATE) {
		x->over = over;
		x->miss = over < 0 ? BSA_MISS_PREDICTED
		                   : BSA_MISS_ABORTED; /* the execution was given up before it emits that */
	}
	if (x->at[BSA_ENQUEUED] == NEVER)
		service_of(w, l)->refusals[service_of(w, l)->n_refusals++ % REFUSALS] = at;
	SAY(w, at, SIM_RARE, l->exec, deadline_miss, .model = w->s->models[x->model].number, .kind = kind,
	    .stage = stage, .deadline_ns = x->deadline, .estimate_ns = x->estimate, .over_ns = over);
}

/* Once for every request. @lane: as in the event. */
static void says_end(struct world *w, struct live *l, uint64_t at, uint8_t lane)
{
	struct sim_exec *x = exec_of(w, l);

	x->at[BSA_RUN_ENDED] = at;
	x->status = l->status;
	x->cpu = x->at[BSA_DISPATCHED] != NEVER && percent(w, 50) ? below(w, at - x->at[BSA_DISPATCHED]) : NEVER;
	if (x->nth_ready) {
		x->nth_over = ++service_of(w, l)->n_over;
		x->n_ready = service_of(w, l)->n_ready;
	}
	SAY(w, at, SIM_FULL, l->exec, exec_end, .lane = lane, .status = x->status, .ops_run = (uint16_t)l->op,
	    .cpu_ns = x->cpu, .redo_ns = x->redo, .nth_over = x->nth_over, .n_ready = x->n_ready);
}

/*
 * For how long its thread had no cpu. That may be more than it took: it is of another clock. Often no reader asked,
 * or it is not known of a part. The world goes on as if no reader had ever asked.
 */
static void says_delays(struct world *w, const struct live *l, uint64_t at)
{
	struct sim_exec *x = exec_of(w, l);
	uint64_t series = w->series;

	if (sim_random(&w->delays, 100) < 30)
		return;
	for (int part = 0; part < BSA_DELAYS; part++)
		if (sim_random(&w->delays, 100) < 90 && (part != BSA_DELAY_RUN || x->at[BSA_DISPATCHED] != NEVER))
			x->delay[part] = sim_random(&w->delays, sim_random(&w->delays, 100) < 80 ? 9 * US : 3 * MS);
	SAY(w, at, SIM_FULL, l->exec, exec_delay, .delays = { x->delay[0], x->delay[1], x->delay[2] });
	w->series = series;
}

/* From its exec_end to where no execution waits for anything. */
static void wind_up(struct world *w, struct live *l)
{
	struct sim_exec *x = exec_of(w, l);
	struct worker *worker = &w->workers[l->worker];
	uint64_t from = x->at[BSA_RUN_ENDED] > w->now ? x->at[BSA_RUN_ENDED] : w->now;
	uint64_t at = from + a_while(w, 20 * US, 1), end;

	if (x->path != BSA_PATH_BURST && percent(w, 50))
		SAY_OF(w, at, l->exec, pool_unmap, .owner = OWNER_EXEC, .owner_id = x->exec, .slot = 0, .cause = 2);
	at += w->grain;
	says_delays(w, l, at);
	if (l->launched) {
		x->at[BSA_SIGNALLED] = end = at;
		SAY(w, at, SIM_RARE, l->exec, fence_signal, .status = x->status);
		summarize_service(w, l->exec, at, true);
		summarize_client(w, l->exec, x->at[BSA_RETURNED]);
	} else {
		end = answer(w, l->exec, at, x->status);
		summarize_service(w, l->exec, at, false);
		summarize_client(w, l->exec, end);
	}
	x->over_at = end > x->at[BSA_RETURNED] ? end : x->at[BSA_RETURNED];
	if (x->deadline && !x->status && x->miss == BSA_MISS_NONE && end > x->deadline)
		x->miss = BSA_MISS_LATE;
	if (worker->next_at == NEVER && worker->left)
		worker->next_at = x->over_at + a_while(w, w->think_ns, 1);
	l->state = FREE;
}

/* ---- how it begins ---- */

static uint64_t maps_slots(struct world *w, uint32_t i, uint64_t at)
{
	struct sim_exec *x = &w->s->execs[i];
	const struct sim_stream *s = &w->s->streams[x->stream];
	bool *mapped = w->mapped[x->stream];
	uint32_t missing = 0;

	x->lookups = (uint32_t)below(w, SLOTS) + 1;
	for (uint32_t slot = 0; slot < x->lookups; slot++) {
		missing += !mapped[slot];
		SAY(w, at, SIM_FULL, i, slot_lookup, .slot = (int32_t)slot, .hit = mapped[slot]);
		at += a_while(w, US, 0);
	}
	x->misses = missing;
	if (!missing)
		return at;
	at += a_while(w, 300 * US, 1);
	SAY(w, at, SIM_RARE, i, slot_fetch, .stream = s->number, .slots = (uint16_t)missing, .took_ns = w->grain);
	for (uint32_t slot = 0; slot < x->lookups; slot++)
		if (!mapped[slot]) {
			at += a_while(w, 20 * US, 0);
			SAY_OF(w, at, i, pool_map, .owner = OWNER_STREAM, .owner_id = s->number, .slot = (int32_t)slot,
			       .bytes = 4096, .took_ns = w->grain);
			mapped[slot] = true;
		}
	return at;
}

static void evicts(struct world *w, uint32_t stream, uint64_t at)
{
	uint32_t slot = (uint32_t)below(w, SLOTS);

	if (!w->mapped[stream][slot])
		return;
	w->mapped[stream][slot] = false;
	TELL(w, at, pool_unmap, .owner = OWNER_STREAM, .owner_id = w->s->streams[stream].number, .slot = (int32_t)slot,
	     .cause = 0);
}

/* The world goes no further than this. */
static void refuse(struct world *w, struct live *l, uint64_t at, uint8_t status)
{
	struct sim_exec *x = exec_of(w, l);

	l->status = status;
	x->refused = x->missed_at != NEVER && x->stage == BSA_STAGE_ADMISSION;
	says_end(w, l, at + a_while(w, 10 * US, 1), LANE_NONE);
	wind_up(w, l);
}

/* False: it was. Otherwise at *at it has been decoded, and may go on. */
static bool admitted(struct world *w, struct live *l, uint64_t *at)
{
	struct sim_exec *x = exec_of(w, l);
	struct service *sv = service_of(w, l);
	bool past;

	if (!x->deadline || sv->deadlines == ADVISE)
		return true;
	*at += a_while(w, 5 * US, 1);
	past = *at >= x->deadline;
	if (!past && !odd(w, 4))
		return true;
	missed(w, l, *at, past ? MISS_PERSISTENT : MISS_TRANSIENT, BSA_STAGE_ADMISSION);
	refuse(w, l, *at, past ? BSA_STATUS_MISSED_DEADLINE_PERSISTENT : BSA_STATUS_MISSED_DEADLINE_TRANSIENT);
	return false;
}

/* Its launch is answered while it goes on. False: it was refused behind its fences. */
static bool launched(struct world *w, struct live *l, uint64_t *at)
{
	struct sim_exec *x = exec_of(w, l);
	struct worker *worker = &w->workers[l->worker];
	uint64_t returned = answer(w, l->exec, *at + a_while(w, 30 * US, 1), 0);
	bool bound = x->deadline && service_of(w, l)->deadlines != ADVISE, failed = percent(w, 3);

	l->launched = true;
	if (!worker->patient && worker->left)
		worker->next_at = returned + a_while(w, w->think_ns, 1);
	*at += a_while(w, percent(w, 30) ? 3 * MS : 20 * US, 1);
	if (bound && *at >= x->deadline) {
		missed(w, l, *at, MISS_TRANSIENT, BSA_STAGE_QUEUE);
		*at += w->grain;
		failed = true;
	}
	x->at[BSA_FENCED] = *at;
	SAY(w, *at, SIM_RARE, l->exec, fence_wait, .fences = 1, .took_ns = w->grain, .status = failed ? 2 : 0);
	if (failed)
		refuse(w, l, *at,
		       x->missed_at != NEVER ? BSA_STATUS_MISSED_DEADLINE_TRANSIENT : STATUS_GENERAL_FAILURE);
	return !failed;
}

static void exhausted(struct world *w, struct live *l, uint64_t at)
{
	SAY_OF(w, at, l->exec, resource_exhausted, .owner = OWNER_EXEC, .owner_id = exec_of(w, l)->exec, .kind = 0,
	       .resource = 3, .asked = 2, .limit = 1);
	refuse(w, l, at, STATUS_EXHAUSTED);
}

/* From exec_submit to request_decode, whose time this is. */
static uint64_t asks(struct world *w, uint32_t i)
{
	struct sim_exec *x = &w->s->execs[i];
	uint8_t queue = x->path == BSA_PATH_BURST ? BSA_QUEUE_REQUEST : BSA_QUEUE_CALL_REQUEST;
	uint64_t at = w->now;

	x->at[BSA_SUBMITTED] = at;
	SAY(w, at, SIM_FULL, i, exec_submit, .model = w->s->models[x->model].number, .path = x->path,
	    .deadline_ns = x->deadline, .pools = 1);
	at += a_while(w, 10 * US, 1);
	x->at[BSA_REQUEST_WRITTEN] = at;
	x->request.blocked = percent(w, 5) ? below(w, 4 * US) : 0;
	SAY(w, at, SIM_FULL, i, fmq_write, .queue = queue, .items = 1, .blocked_ns = x->request.blocked);
	at += a_while(w, percent(w, 10) ? MS : 30 * US, 1);
	x->at[BSA_REQUEST_READ] = at;
	x->request.slept = percent(w, 50) ? below(w, 9 * US) : 0;
	x->request.spun = below(w, 5 * US);
	SAY(w, at, SIM_FULL, i, fmq_read, .queue = queue, .items = 1, .used = 1, .spun_ns = x->request.spun,
	    .slept_ns = x->request.slept, .wakeups = x->request.slept > 0);
	return at + a_while(w, 10 * US, 1);
}

static void decodes(struct world *w, struct live *l, uint64_t at)
{
	struct sim_exec *x = exec_of(w, l);
	bool malformed = odd(w, 2);

	x->at[BSA_DECODED] = at;
	SAY(w, at, SIM_FULL, l->exec, request_decode, .model = w->s->models[x->model].number, .operands = 2, .pools = 1,
	    .status = malformed ? STATUS_INVALID_ARGUMENT : 0);
	if (malformed) {
		refuse(w, l, at, STATUS_INVALID_ARGUMENT);
		return;
	}
	if (!admitted(w, l, &at) || (x->path == BSA_PATH_FENCED && !launched(w, l, &at)))
		return;
	at += a_while(w, 5 * US, 1);
	if (x->path == BSA_PATH_BURST)
		at = maps_slots(w, l->exec, at);
	else if (percent(w, 50))
		SAY_OF(w, at, l->exec, pool_map, .owner = OWNER_EXEC, .owner_id = x->exec, .slot = 0, .bytes = 4096,
		       .took_ns = w->grain);
	if (odd(w, 1)) {
		exhausted(w, l, at + w->grain);
		return;
	}
	l->state = COMES;
	l->next_at = at + a_while(w, 5 * US, 1);
}

static struct live *spare_live(struct world *w)
{
	struct live *l = w->live;

	while (l->state != FREE)
		assert(++l < w->live + LIVE);
	memset(l, 0, sizeof(*l));
	return l;
}

static void submits(struct world *w, struct worker *worker)
{
	struct sim_stream *stream = &w->s->streams[worker->stream];
	const struct sim_model *m = &w->s->models[worker->model];
	struct sim_exec *x = MORE(w, execs);
	struct live *l = spare_live(w);

	worker->next_at = NEVER;
	worker->left--;
	memset(x->at, 0xff, sizeof(x->at));
	memset(x->delay, 0xff, sizeof(x->delay));
	x->exec = (uint64_t)stream->number << 32 | ++stream->next;
	x->service = w->s->apps[stream->app].service;
	x->app = stream->app;
	x->model = worker->model;
	x->stream = worker->stream;
	x->path = stream->path;
	x->priority = m->priority;
	x->estimate = m->estimate_ns;
	x->missed_at = NEVER;
	x->lane = -1;
	if (below(w, 100) < w->odds_deadline)
		x->deadline = w->now + a_while(w, w->tight_ns, 1);
	l->exec = (uint32_t)(w->s->n_execs - 1);
	l->worker = (uint32_t)(worker - w->workers);
	if (stream->path == BSA_PATH_BURST && below(w, 100) < w->odds_miss)
		evicts(w, worker->stream, w->now);
	decodes(w, l, asks(w, l->exec));
}

/* ---- lanes ---- */

static void put_wait(struct world *w, const struct live *l, uint64_t until, uint8_t lane)
{
	struct sim_wait *wait = MORE(w, waits);

	*wait = (struct sim_wait){ .exec = l->exec,
		                   .service = exec_of(w, l)->service,
		                   .began = l->ready_since,
		                   .ended = until,
		                   .lane = lane,
		                   .kind = l->begun ? BSA_WAIT_PREEMPTED : BSA_WAIT_QUEUE };
}

static void put_slice(struct world *w, const struct live *l, uint8_t lane)
{
	struct sim_slice *slice = MORE(w, slices);

	*slice = (struct sim_slice){ .exec = l->exec,
		                     .service = exec_of(w, l)->service,
		                     .lane = lane,
		                     .began = l->on_since,
		                     .ended = w->now,
		                     .first = !l->preempted };
}

/* Was there one of this kind just now? Then a little later. @other: nor is it to come with one of those. */
static bool too_soon(struct world *w, struct live *l, uint64_t *last, const uint64_t *other)
{
	const struct service *sv = service_of(w, l);
	bool taken = *last == w->now || (other && *other == w->now);

	if (w->terms->plain)
		return false;
	for (uint32_t i = 0; i < REFUSALS; i++)
		taken |= sv->refusals[i] == w->now;
	if (taken) {
		l->next_at = w->now + w->grain;
		return true;
	}
	*last = w->now;
	return false;
}

/* The execution is ready no more, or off its lane. */
static bool stops_too_soon(struct world *w, struct live *l)
{
	struct service *sv = service_of(w, l);

	return too_soon(w, l, &sv->last_stop, &sv->last_ready);
}

static uint64_t too_late(struct world *w, const struct live *l)
{
	const struct sim_exec *x = exec_of(w, l);
	enum deadlines mode = service_of(w, l)->deadlines;

	if (w->terms->plain && mode == REFUSE && l->begun) /* the execution finishes */
		return NEVER;
	return x->deadline && mode != ADVISE ? x->deadline : NEVER;
}

static uint64_t soon(struct world *w)
{
	return w->now + (w->terms->plain ? 0 : a_while(w, US, 0));
}

/* When it gives up waiting. */
static uint64_t gives_up_at(struct world *w, const struct live *l)
{
	return odd(w, 1) ? w->now + a_while(w, MS, 1) : too_late(w, l);
}

static void comes(struct world *w, struct live *l)
{
	struct sim_exec *x = exec_of(w, l);
	struct service *sv = service_of(w, l);

	if (too_soon(w, l, &sv->last_ready, &sv->last_stop))
		return;
	x->at[BSA_ENQUEUED] = l->ready_since = w->now;
	x->nth_ready = ++sv->n_ready;
	SAY(w, w->now, SIM_FULL, l->exec, sched_enqueue, .model = w->s->models[x->model].number,
	    .app = w->s->apps[x->app].key, .priority = x->priority, .deadline_ns = x->deadline,
	    .estimate_ns = x->estimate, .ahead = (uint16_t)(is_native(w, l) ? 0 : sv->policy.waiting + sv->announced),
	    .nth_ready = x->nth_ready);
	sv->announced++;
	l->state = ENTERS;
	l->next_at = soon(w);
}

static void gets_on_at(struct live *l, uint64_t at)
{
	l->state = GETS_ON;
	l->next_at = at;
}

static void enters(struct world *w, struct live *l)
{
	const struct sim_exec *x = exec_of(w, l);
	struct service *sv = service_of(w, l);

	sv->announced--;
	l->job = (struct nnb__policy_job){ .app = &sv->apps[x->app],
		                           .priority = x->priority,
		                           .deadline_ns = nnb__ordered_by(x->deadline ? x->deadline : NEVER, w->now),
		                           .lane = NNB__NO_LANE,
		                           .restarts = odd(w, 10) ? NNB__RESTARTS_MAX : 0 };
	if (is_native(w, l) || nnb__policy_ready(&sv->policy, &l->job, w->now)) {
		gets_on_at(l, soon(w));
		return;
	}
	l->state = WAITS;
	l->gives_up = gives_up_at(w, l);
	l->next_at = l->gives_up > w->now ? l->gives_up : w->now;
}

/* The execution that the policy gave a lane to; it takes a while to wake up. */
static void handed_over(struct world *w, struct nnb__policy_job *job)
{
	if (job && w->terms->plain)
		gets_on_at((struct live *)job, w->now + w->terms->wake_ns);
	else if (job)
		gets_on_at((struct live *)job, w->now + a_while(w, percent(w, 10) ? 50 * US : 3 * US, 0));
}

static void gives_up(struct world *w, struct live *l)
{
	struct service *sv = service_of(w, l);
	bool late = too_late(w, l) <= w->now;

	nnb__policy_cancel(&sv->policy, &l->job, w->now);
	l->status = late ? BSA_STATUS_MISSED_DEADLINE_TRANSIENT : STATUS_GENERAL_FAILURE;
	l->state = GAVE_UP;
	l->next_at = soon(w);
	if (late)
		missed(w, l, l->next_at, MISS_TRANSIENT, BSA_STAGE_QUEUE);
	l->next_at += w->terms->plain ? 0 : w->grain;
}

static void gave_up(struct world *w, struct live *l)
{
	if (stops_too_soon(w, l))
		return;
	put_wait(w, l, w->now, 0);
	says_end(w, l, w->now, l->begun ? (uint8_t)exec_of(w, l)->lane : LANE_NONE);
	wind_up(w, l);
}

static uint64_t op_ns(struct world *w, const struct live *l)
{
	uint64_t ns = model_of(w, l)->op_ns[l->op], again = exec_of(w, l)->exec * 8 + l->op;

	ns = ns / 2 + (w->terms->plain ? sim_random(&again, ns) : below(w, ns)); /* as before, if it starts over */
	return (ns / w->grain + 1) * w->grain;
}

static void stops(struct world *w, struct live *l);

static void stops_soon(struct world *w, struct live *l)
{
	l->state = STOPS;
	l->next_at = w->now + a_while(w, US, 1);
	if (w->terms->plain)
		stops(w, l);
}

/* On its lane, perhaps only to find that it is too late. */
static void runs(struct world *w, struct live *l)
{
	bool cancelled = odd(w, 1);

	l->state = RUNS;
	l->next_at = w->now + op_ns(w, l);
	if (!cancelled && (w->now < too_late(w, l) || (w->terms->plain && l->begun)))
		return;
	l->status = cancelled ? STATUS_GENERAL_FAILURE : BSA_STATUS_MISSED_DEADLINE_TRANSIENT;
	if (!cancelled)
		missed(w, l, w->now, MISS_TRANSIENT, l->begun ? BSA_STAGE_RUNNING : BSA_STAGE_QUEUE);
	stops_soon(w, l);
}

static void resumes(struct world *w, struct live *l)
{
	struct sim_preemption *p = &w->s->preemptions[l->preemption - 1];
	bool over = service_of(w, l)->restarts;

	p->resumed = w->now;
	SAY(w, w->now, SIM_RARE, l->exec, sched_resume, .lane = lane_of(w, l), .from_op = over ? 0 : (uint16_t)l->op,
	    .resumed = over ? 2 : 1);
	if (over) {
		l->redo_until = l->op > l->redo_until ? l->op : l->redo_until;
		l->redo_from = w->now;
		l->op = 0;
	}
	l->preempted = true;
}

static void gets_on(struct world *w, struct live *l)
{
	struct sim_exec *x = exec_of(w, l);

	if (too_soon(w, l, &service_of(w, l)->last_begin, NULL))
		return;
	put_wait(w, l, w->now, lane_of(w, l));
	l->on_since = w->now;
	x->lane = lane_of(w, l);
	if (l->begun) {
		resumes(w, l);
	} else {
		x->at[BSA_DISPATCHED] = w->now;
		SAY(w, w->now, SIM_FULL, l->exec, sched_dispatch, .lane = lane_of(w, l));
	}
	runs(w, l);
	l->begun = true;
}

/* The execution makes room for @by. */
static void preempted(struct world *w, struct live *l, const struct live *by, uint64_t asked, uint8_t lane)
{
	struct sim_exec *x = exec_of(w, l);
	struct service *sv = service_of(w, l);
	struct sim_preemption *p = MORE(w, preemptions);

	if (l->redo_until)
		l->redo_ns = w->now - l->redo_from;
	*p = (struct sim_preemption){ .exec = l->exec,
		                      .by = by->exec,
		                      .asked = w->now - asked,
		                      .stopped = w->now,
		                      .resumed = NEVER,
		                      .redo = l->redo_ns,
		                      .at_op = (uint16_t)l->op,
		                      .mode = sv->restarts,
		                      .lane = lane };
	SAY(w, w->now, SIM_RARE, l->exec, sched_preempt, .by = exec_of(w, by)->exec, .lane = lane, .at_op = p->at_op,
	    .mode = p->mode, .asked_ns = asked, .redo_ns = l->redo_ns);
	x->redo += l->redo_ns;
	x->preemptions++;
	l->redo_ns = 0;
	l->preemption = w->s->n_preemptions;
	l->ready_since = w->now;
	l->state = WAITS;
	l->gives_up = gives_up_at(w, l);
	l->next_at = l->gives_up > w->now ? l->gives_up : w->now;
}

/* At a checkpoint: does it make room? */
static void may_yield(struct world *w, struct live *l)
{
	struct service *sv = service_of(w, l);
	int lane = l->job.lane;
	uint64_t yield_at = sv->policy.yield_at[lane];
	struct nnb__policy_job *next;

	if (yield_at > w->now || !nnb__policy_yield(&sv->policy, lane, w->now))
		return;
	next = nnb__policy_leave(&sv->policy, lane, true, w->now);
	if (next == &l->job)
		return;
	put_slice(w, l, (uint8_t)lane);
	if (!yield_at)
		yield_at = sv->asked_at[lane];
	preempted(w, l, (struct live *)next, w->now > yield_at ? w->now - yield_at : 0, (uint8_t)lane);
	handed_over(w, next);
}

static void ends_on_lane(struct world *w, struct live *l)
{
	struct sim_exec *x = exec_of(w, l);

	if (l->redo_until) {
		l->redo_ns = w->now - l->redo_from;
		l->redo_until = 0;
	}
	x->redo += l->redo_ns;
	put_slice(w, l, lane_of(w, l));
	says_end(w, l, w->now, lane_of(w, l));
	l->state = GIVES;
	l->next_at = soon(w) + (w->terms->plain ? w->terms->give_ns : 0);
}

static void stops(struct world *w, struct live *l)
{
	if (!stops_too_soon(w, l))
		ends_on_lane(w, l);
}

/* An operation is over. */
static void steps(struct world *w, struct live *l)
{
	const struct sim_model *m = model_of(w, l);
	const struct sim_exec *x = exec_of(w, l);

	if (stops_too_soon(w, l))
		return;
	SAY(w, w->now, 0, l->exec, op_end, .op = (uint16_t)l->op, .type = 1); /* verbose: in no form */
	l->op++;
	if (l->redo_until && l->op >= l->redo_until) {
		l->redo_ns = w->now - l->redo_from;
		l->redo_until = 0;
	}
	l->next_at = w->now + (l->op < m->ops ? op_ns(w, l) : 0);
	if (l->op == m->ops) {
		if (x->deadline && w->now >= x->deadline)
			missed(w, l, w->now, MISS_LATE, BSA_STAGE_DONE);
		ends_on_lane(w, l);
	} else if (w->now >= too_late(w, l) && service_of(w, l)->deadlines == ABORT) {
		l->status = BSA_STATUS_MISSED_DEADLINE_TRANSIENT;
		missed(w, l, w->now, MISS_TRANSIENT, BSA_STAGE_RUNNING);
		stops_soon(w, l);
	} else if (!is_native(w, l)) {
		may_yield(w, l);
	}
}

static void gives(struct world *w, struct live *l)
{
	struct service *sv = service_of(w, l);

	if (!is_native(w, l))
		handed_over(w, nnb__policy_leave(&sv->policy, l->job.lane, false, w->now));
	wind_up(w, l);
}

/* ---- the world ---- */

static void happens(struct world *w, struct live *l)
{
	switch (l->state) {
	case COMES:
		comes(w, l);
		break;
	case ENTERS:
		enters(w, l);
		break;
	case WAITS:
		gives_up(w, l);
		break;
	case GETS_ON:
		gets_on(w, l);
		break;
	case RUNS:
		steps(w, l);
		break;
	case STOPS:
		stops(w, l);
		break;
	case GIVES:
		gives(w, l);
		break;
	case GAVE_UP:
		gave_up(w, l);
		break;
	case FREE:
		break;
	}
}

/* The policy wants a lane at once (yield_at is 0): remember since when, for asked_ns. */
static void note_asked(struct world *w)
{
	for (uint32_t i = 0; i < w->s->n_services; i++)
		for (uint32_t lane = 0; lane < w->s->services[i].lanes; lane++) {
			uint64_t *at = &w->services[i].asked_at[lane];

			*at = w->services[i].policy.yield_at[lane] ? 0 : *at ? *at : w->now;
		}
}

/* False: nothing more does. */
static bool next_thing(struct world *w)
{
	struct worker *worker = NULL;
	struct live *l = NULL;
	uint64_t first = NEVER;

	for (uint32_t i = 0; i < w->n_workers; i++)
		if (w->workers[i].next_at < first) {
			worker = &w->workers[i];
			first = worker->next_at;
		}
	for (uint32_t i = 0; i < LIVE; i++)
		if (w->live[i].state != FREE && w->live[i].next_at < first) {
			l = &w->live[i];
			first = l->next_at;
		}
	if (!worker && !l)
		return false;
	assert(first >= w->now);
	w->now = first;
	if (l)
		happens(w, l);
	else
		submits(w, worker);
	note_asked(w);
	return true;
}

/* ---- its beginning and its end ---- */

static uint32_t number(struct world *w, uint32_t service)
{
	return (uint32_t)w->s->services[service].instance << 20 | ++w->services[service].numbers;
}

static uint64_t tick(struct world *w)
{
	return w->now += a_while(w, 10 * US, 1);
}

static void make_service(struct world *w, uint32_t i)
{
	static const enum nnb_policy kinds[] = { NNB_POLICY_FAIR, NNB_POLICY_FAIR, NNB_POLICY_PRIORITY, NNB_POLICY_FIFO,
		                                 NNB_POLICY_EDF };
	static const enum nnb_preempt preempts[] = { NNB_PREEMPT_NONE, NNB_PREEMPT_RESTART, NNB_PREEMPT_SAVE,
		                                     NNB_PREEMPT_SAVE };
	struct sim_service *s = &w->s->services[i];
	struct service *sv = &w->services[i];
	enum nnb_policy kind = kinds[below(w, 5)];
	enum nnb_preempt preempt = preempts[below(w, 4)];

	s->instance = (uint16_t)(i * 2000 + 1 + below(w, 2000));
	s->native = odd(w, 4);
	s->lanes = percent(w, 60) ? 1 : (uint32_t)below(w, SIM_LANES) + 1;
	sv->deadlines = (enum deadlines)below(w, 3);
	s->deadlines = sv->deadlines;
	s->policy = kind;
	sv->restarts = preempt == NNB_PREEMPT_RESTART;
	sv->last_begin = sv->last_ready = sv->last_stop = NEVER;
	nnb__policy_init(&sv->policy, kind, preempt, s->lanes);
	TELL(w, tick(w), service_state, .pid = 100 + i, .instance = s->instance,
	     .policy = s->native ? 4 : (uint8_t)kind, .preempt_mode = (uint8_t)preempt, .lanes = (uint8_t)s->lanes,
	     .spin_us = 50, .contract = 1, .deadlines = (uint8_t)sv->deadlines);
}

static void make_stream(struct world *w, uint32_t app, uint32_t conn, uint8_t path, uint32_t model)
{
	uint32_t service = w->s->apps[app].service;
	struct sim_stream *s = &w->s->streams[w->s->n_streams++];

	*s = (struct sim_stream){
		.number = number(w, service), .app = app, .model = model, .path = path, .closed = NEVER
	};
	s->opened = path == BSA_PATH_BURST ? tick(w) : w->now;
	TELL(w, s->opened, stream_open, .stream = s->number, .conn = conn, .path = path,
	     .model = path == BSA_PATH_BURST ? w->s->models[model].number : 0);
}

static void make_model(struct world *w, uint32_t app, uint32_t conn)
{
	struct sim_model *m = &w->s->models[w->s->n_models++];
	uint64_t step = a_while(w, percent(w, 30) ? 3 * MS : 400 * US, 1);

	if (w->terms->slow && percent(w, 40))
		step *= w->terms->slow;
	*m = (struct sim_model){ .app = app, .priority = (uint8_t)below(w, 3), .ops = (uint32_t)below(w, 8) + 1 };
	m->number = number(w, w->s->apps[app].service);
	for (uint32_t i = 0; i < m->ops; i++)
		m->op_ns[i] = step / (1 + below(w, 3)) + w->grain;
	for (uint32_t i = 0; i < m->ops; i++) {
		m->step_ns = m->op_ns[i] > m->step_ns ? m->op_ns[i] : m->step_ns;
		m->estimate_ns += m->op_ns[i];
	}
	TELL(w, tick(w), model_prepare, .model = m->number, .conn = conn, .name = "model", .priority = m->priority,
	     .ops = (uint16_t)m->ops, .estimate_ns = m->estimate_ns, .step_ns = m->step_ns, .took_ns = w->grain);
}

static void make_worker(struct world *w, uint32_t stream, uint32_t model)
{
	struct worker *k = &w->workers[w->n_workers];

	if (w->n_workers == WORKERS)
		return;
	*k = (struct worker){ .stream = stream, .model = model, .patient = percent(w, 50) };
	w->n_workers++;
}

static void make_app(struct world *w, uint32_t service)
{
	uint32_t app = w->s->n_apps++, conn = number(w, service), first, models = (uint32_t)below(w, 3) + 1;
	struct sim_app *a = &w->s->apps[app];

	*a = (struct sim_app){ .key = 1000 + app % 3 + (uint32_t)below(w, 2) * 10, .uid = 500, .service = service };
	for (uint32_t i = 0; i < app; i++)
		if (w->s->apps[i].service == service && w->s->apps[i].key == a->key)
			a->key = 2000 + app;
	TELL(w, tick(w), client_connect, .conn = conn, .pid = 3000 + app, .uid = a->uid, .app = a->key, .name = "app");
	first = w->s->n_streams;
	for (uint8_t path = BSA_PATH_SYNC; path <= BSA_PATH_ASYNC; path++)
		make_stream(w, app, conn, path, 0);
	for (uint32_t i = 0; i < models; i++) {
		uint32_t model = w->s->n_models;

		make_model(w, app, conn);
		if (percent(w, 70)) {
			make_stream(w, app, conn, BSA_PATH_BURST, model);
			make_worker(w, w->s->n_streams - 1, model);
		}
		for (uint32_t path = 0; path < 3; path++)
			if (percent(w, 25) && !(w->terms->plain && BSA_PATH_SYNC + path == BSA_PATH_FENCED))
				make_worker(w, first + path, model);
	}
}

static void make_world(struct world *w)
{
	uint32_t each;

	w->now = w->s->began = (UINT64_C(1) << 33) + below(w, UINT64_C(1) << 40) / w->grain * w->grain;
	w->s->n_services = percent(w, 85) ? 1 : SIM_SERVICES;
	for (uint32_t i = 0; i < w->s->n_services; i++)
		make_service(w, i);
	for (uint32_t i = 0; i < w->s->n_services; i++) {
		uint32_t apps = (uint32_t)below(w, 4) + 1;

		while (apps--)
			make_app(w, i);
	}
	if (!w->n_workers)
		make_worker(w, 0, 0);
	each = w->terms->executions / w->n_workers + 1;
	for (uint32_t i = 0; i < w->n_workers; i++) {
		w->workers[i].left = each;
		w->workers[i].next_at = w->now + a_while(w, percent(w, 50) ? 100 * US : 5 * MS, 1);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct sim_event *x = a, *y = b;

	if (x->event.at != y->event.at)
		return x->event.at < y->event.at ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void unmake_world(struct world *w)
{
	for (size_t i = 0; i < w->s->n_events; i++)
		if (w->s->events[i].event.at > w->now)
			w->now = w->s->events[i].event.at;
	w->s->ended = w->now;
	for (uint32_t i = 0; i < w->s->n_streams && !w->terms->no_ends; i++) {
		struct sim_stream *s = &w->s->streams[i];

		s->closed = tick(w);
		TELL(w, s->closed, stream_close, .stream = s->number);
	}
	for (uint32_t i = 0; i < w->s->n_models && !w->terms->no_ends; i++)
		TELL(w, tick(w), model_release, .model = w->s->models[i].number);
}

void sim_play(struct sim *ret, const struct sim_terms *terms)
{
	static _Thread_local struct world w;
	static const uint64_t grains[] = { 1, 1, 50, 1000 };

	memset(&w, 0, sizeof(w));
	memset(ret, 0, sizeof(*ret));
	w.s = ret;
	w.terms = terms;
	w.series = terms->seed * UINT64_C(0x2545f4914f6cdd1d);
	w.delays = ~w.series;
	w.grain = grains[below(&w, 4)];
	if (terms->plain)
		w.grain = 1;
	w.odds_deadline = below(&w, 101);
	w.odds_miss = below(&w, 30);
	w.think_ns = percent(&w, 50) ? 100 * US : 10 * MS;
	w.tight_ns = percent(&w, 50) ? 5 * MS : 60 * MS;
	make_world(&w);
	while (next_thing(&w))
		;
	unmake_world(&w);
	qsort(ret->events, ret->n_events, sizeof(*ret->events), by_time);
}

void sim_free(struct sim *s)
{
	free(s->events);
	free(s->execs);
	free(s->slices);
	free(s->waits);
	free(s->preemptions);
	memset(s, 0, sizeof(*s));
}
