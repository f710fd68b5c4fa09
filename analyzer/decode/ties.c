/* ties.c -- sorts records of one time topologically, and takes the least key at each step. */
#include "ties.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NO_LANE = -1, EXEC_SHIFT = 32, INSTANCE_SHIFT = 52 };

/* The steps of a life, in order. What a stream, connection or model does not have yet, or no more, cannot be used. */
enum step {
	STEP_LOSS, /* before anything of its time */
	STEP_STATE,
	STEP_CONNECT,
	STEP_PREPARED,
	STEP_OPEN,
	STEP_UNDER_WAY,
	STEP_SUBMIT,
	STEP_CLIENT_LOOKUP,
	STEP_WRITE_REQUEST,
	STEP_READ_REQUEST,
	STEP_DECODE,
	STEP_FENCES,
	STEP_LOOKUP,
	STEP_ENQUEUE,
	STEP_DISPATCH,
	STEP_OPERATION,
	STEP_PREEMPT,
	STEP_READY,
	STEP_RESUME,
	STEP_MISS,
	STEP_END,
	STEP_DELAY,
	STEP_WRITE_RESULT,
	STEP_READ_RESULT,
	STEP_RETURNED_LATE,
	STEP_RETURN,
	STEP_SIGNAL, /* signal of a fenced execution, whose launch was answered before */
	STEP_SUMMARY,
	STEP_CLIENT_SUMMARY,
	STEP_OTHER,
	STEP_CLOSE,
	STEP_RELEASE,
	STEP_DISCONNECT
};

enum life { LIFE_MADE, LIFE_USED, LIFE_ENDED };

/* A number of a thing that is made, used and ended; 0: the record names no thing. */
struct named {
	uint32_t number;
	uint8_t life; /* enum life */
};

struct tie {
	const struct bsa_event *event;
	uint64_t rank, exec;
	uint64_t number; /* order of two records of one step */
	struct named connection, stream, model;
	uint32_t blocked;  /* number of records that must come first and have not been handed out */
	int previous;      /* the previous record of the same stream; -1: this is the first */
	int tenure;        /* index of the execution's tenure of a lane; NO_LANE: the record concerns no lane */
	uint8_t step;      /* enum step */
	bool enters, done; /* enters: the lane; otherwise leaves it */
};

/* An execution that enters or leaves a lane at this time. */
struct tenure {
	uint64_t exec, rank; /* rank, step: of the first of its records */
	uint32_t leaves;     /* records that leave and were not handed out */
	int lane;            /* its place among lanes */
	uint8_t step;
	bool inside;
};

struct lane {
	uint32_t instance, number;
	uint32_t leaves;  /* records that leave and were not handed out */
	uint32_t holders; /* tenures that are inside, and leave at this time */
};

struct bsa_ties {
	size_t n, done;
	struct tie ties[BSA_TIES_MAX];
	struct tenure tenures[BSA_TIES_MAX];
	struct lane lanes[BSA_TIES_MAX];
	size_t n_tenures, n_lanes, bytes;
	uint64_t data[BSA_TIES_MAX * (BSA_RECORD_MAX / 8)];
};

struct bsa_ties *bsa_ties_new(void)
{
	return calloc(1, sizeof(struct bsa_ties));
}

struct bsa_ties *bsa_ties_free(struct bsa_ties *t)
{
	free(t);
	return NULL;
}

size_t bsa_ties_count(const struct bsa_ties *t)
{
	return t->n - t->done;
}

/* ---- what a record is about ---- */

static bool is_result(uint8_t queue)
{
	return queue == BSA_QUEUE_RESULT || queue == BSA_QUEUE_CALL_RESULT;
}

/* The step of an event; *ret_exec: the execution that it concerns, if any. */
static enum step step_of(const struct bsa_event *e, uint64_t *ret_exec)
{
#define STEP(kind, step)                           \
	case BSA_##kind:                           \
		*ret_exec = BSA_OF(e, kind)->exec; \
		return step;

	switch ((enum bsa_kind)e->kind) {
		STEP(exec_state, STEP_UNDER_WAY)
		STEP(exec_submit, STEP_SUBMIT)
		STEP(fmq_write, is_result(BSA_OF(e, fmq_write)->queue) ? STEP_WRITE_RESULT : STEP_WRITE_REQUEST)
		STEP(fmq_read, is_result(BSA_OF(e, fmq_read)->queue) ? STEP_READ_RESULT : STEP_READ_REQUEST)
		STEP(request_decode, STEP_DECODE)
		STEP(fence_wait, STEP_FENCES)
		STEP(slot_lookup, BSA_OF(e, slot_lookup)->look == BSA_LOOK_CLIENT ? STEP_CLIENT_LOOKUP : STEP_LOOKUP)
		STEP(slot_fetch, STEP_LOOKUP)
		STEP(sched_enqueue, STEP_ENQUEUE)
		STEP(sched_dispatch, STEP_DISPATCH)
		STEP(checkpoint, STEP_OPERATION)
		STEP(op_end, STEP_OPERATION)
		STEP(loop_iteration, STEP_OPERATION)
		STEP(sched_preempt, STEP_PREEMPT)
		STEP(sched_ready, STEP_READY)
		STEP(sched_resume, STEP_RESUME)
		STEP(deadline_miss,
		     BSA_OF(e, deadline_miss)->stage == BSA_STAGE_RETURNED ? STEP_RETURNED_LATE : STEP_MISS)
		STEP(exec_end, STEP_END)
		STEP(exec_delay, STEP_DELAY)
		STEP(fence_signal, STEP_SIGNAL)
		STEP(exec_service, STEP_SUMMARY)
		STEP(exec_return, STEP_RETURN)
		STEP(exec_client, STEP_CLIENT_SUMMARY)
	case BSA_loss:
		return STEP_LOSS;
	case BSA_service_state:
		return STEP_STATE;
	case BSA_client_connect:
		return STEP_CONNECT;
	case BSA_model_prepare:
		return STEP_PREPARED;
	case BSA_stream_open:
		return STEP_OPEN;
	case BSA_stream_close:
		return STEP_CLOSE;
	case BSA_model_release:
		return STEP_RELEASE;
	case BSA_client_disconnect:
		return STEP_DISCONNECT;
	default:
		return STEP_OTHER;
	}
#undef STEP
}

static struct named life_made(uint32_t number)
{
	return (struct named){ number, LIFE_MADE };
}

static struct named life_used(uint32_t number)
{
	return (struct named){ number, LIFE_USED };
}

static struct named life_ended(uint32_t number)
{
	return (struct named){ number, LIFE_ENDED };
}

static void name_things(struct tie *t)
{
	const struct bsa_event *e = t->event;

	t->stream = life_used((uint32_t)(t->exec >> EXEC_SHIFT));
	switch ((enum bsa_kind)e->kind) {
	case BSA_client_connect:
		t->connection = life_made(BSA_OF(e, client_connect)->conn);
		break;
	case BSA_client_disconnect:
		t->connection = life_ended(BSA_OF(e, client_disconnect)->conn);
		break;
	case BSA_model_prepare:
		t->connection = life_used(BSA_OF(e, model_prepare)->conn);
		t->model = life_made(BSA_OF(e, model_prepare)->model);
		break;
	case BSA_model_release:
		t->model = life_ended(BSA_OF(e, model_release)->model);
		break;
	case BSA_stream_open:
		t->connection = life_used(BSA_OF(e, stream_open)->conn);
		t->model = life_used(BSA_OF(e, stream_open)->model);
		t->stream = life_made(BSA_OF(e, stream_open)->stream);
		break;
	case BSA_stream_close:
		t->stream = life_ended(BSA_OF(e, stream_close)->stream);
		break;
	case BSA_exec_submit:
		t->model = life_used(BSA_OF(e, exec_submit)->model);
		break;
	case BSA_request_decode:
		t->model = life_used(BSA_OF(e, request_decode)->model);
		break;
	default:
		break;
	}
}

/* ---- lanes ---- */

static int tenure_of(struct bsa_ties *t, const struct tie *tie, uint32_t number)
{
	struct tenure *x = t->tenures;
	uint32_t instance = (uint32_t)(tie->exec >> INSTANCE_SHIFT);
	size_t i = 0;
	int lane;

	while (i < t->n_lanes && (t->lanes[i].instance != instance || t->lanes[i].number != number))
		i++;
	if (i == t->n_lanes)
		t->lanes[t->n_lanes++] = (struct lane){ .instance = instance, .number = number };
	lane = (int)i;
	while (x < t->tenures + t->n_tenures && (x->exec != tie->exec || x->lane != lane))
		x++;
	if (x == t->tenures + t->n_tenures) {
		*x = (struct tenure){ .exec = tie->exec, .lane = lane, .step = UINT8_MAX };
		t->n_tenures++;
	}
	if (x->step == UINT8_MAX || (tie->rank != x->rank && tie->step < x->step)) {
		x->step = tie->step;
		x->rank = tie->rank;
		x->inside = !tie->enters;
	}
	x->leaves += !tie->enters;
	return (int)(x - t->tenures);
}

static bool tenure_holds(const struct tenure *x)
{
	return x->inside && x->leaves;
}

/* No other execution holds the lane; one that stays enters after all others of this time have left it. */
static bool may_enter(const struct bsa_ties *t, const struct tie *tie)
{
	const struct tenure *x = &t->tenures[tie->tenure];
	const struct lane *l = &t->lanes[x->lane];

	return l->holders == tenure_holds(x) && (x->leaves || !l->leaves);
}

/* ---- what comes before what ---- */

static bool same_before(const struct named *cause, const struct named *effect)
{
	return cause->number && cause->number == effect->number && cause->life < effect->life;
}

static bool is_cause(const struct tie *cause, const struct tie *effect)
{
	return (cause->exec && cause->exec == effect->exec && cause->step < effect->step) ||
	       same_before(&cause->connection, &effect->connection) || same_before(&cause->stream, &effect->stream) ||
	       same_before(&cause->model, &effect->model);
}

static void tie_look_at(struct bsa_ties *t, size_t i)
{
	struct tie *tie = &t->ties[i];
	const struct bsa_event *e = tie->event;
	uint32_t lane = BSA_LANE_NATIVE;

	tie->step = (uint8_t)step_of(e, &tie->exec);
	name_things(tie);
	tie->number = tie->exec            ? tie->exec
	              : tie->stream.number ? tie->stream.number
	              : tie->model.number  ? tie->model.number
	                                   : tie->connection.number;

	/* With this record the execution enters or leaves a lane; many hold the native one at once. */
	tie->enters = e->kind == BSA_sched_dispatch || e->kind == BSA_sched_resume;
	switch ((enum bsa_kind)e->kind) {
	case BSA_sched_dispatch:
		lane = BSA_OF(e, sched_dispatch)->lane;
		break;
	case BSA_sched_resume:
		lane = BSA_OF(e, sched_resume)->lane;
		break;
	case BSA_sched_preempt:
		lane = BSA_OF(e, sched_preempt)->lane;
		break;
	case BSA_exec_end:
		lane = BSA_OF(e, exec_end)->lane;
		break;
	default:
		break;
	}
	tie->tenure = lane < BSA_LANE_NATIVE ? tenure_of(t, tie, lane) : NO_LANE;

	tie->previous = -1;
	for (size_t k = i; k-- > 0 && tie->previous < 0;)
		if (t->ties[k].rank == tie->rank)
			tie->previous = (int)k;
}

/* ---- one after the other ---- */

static bool is_before(const struct tie *a, const struct tie *b)
{
	if (a->step != b->step)
		return a->step < b->step;
	if (a->number != b->number)
		return a->number < b->number;
	return a->rank < b->rank;
}

/* The least of those that nothing must come before; or, where records contradict each other, the first stream's. */
static struct tie *choose_tie(struct bsa_ties *t)
{
	struct tie *ret = NULL, *first = NULL;

	for (struct tie *tie = t->ties; tie < t->ties + t->n; tie++) {
		if (tie->done || (tie->previous >= 0 && !t->ties[tie->previous].done))
			continue;
		if (!first || tie->rank < first->rank)
			first = tie;
		if (tie->blocked || (tie->enters && tie->tenure != NO_LANE && !may_enter(t, tie)))
			continue;
		if (!ret || is_before(tie, ret))
			ret = tie;
	}
	return ret ? ret : first;
}

void bsa_ties_add(struct bsa_ties *t, uint64_t rank, const struct bsa_event *e)
{
	char *to = (char *)t->data + t->bytes;

	assert(t->n < BSA_TIES_MAX && !t->done && e->size <= BSA_RECORD_MAX);
	memcpy(to, e, e->size);
	t->bytes += e->size;
	t->ties[t->n++] = (struct tie){ .event = (const struct bsa_event *)to, .rank = rank };
}

const struct bsa_event *bsa_ties_next(struct bsa_ties *t)
{
	struct tie *next;

	if (t->done == t->n) {
		t->n = t->done = t->bytes = 0;
		return NULL;
	}
	if (!t->done) {
		t->n_tenures = t->n_lanes = 0;
		for (size_t i = 0; i < t->n; i++)
			tie_look_at(t, i);
		for (size_t i = 0; i < t->n_tenures; i++) {
			t->lanes[t->tenures[i].lane].leaves += t->tenures[i].leaves;
			t->lanes[t->tenures[i].lane].holders += tenure_holds(&t->tenures[i]);
		}
		for (size_t i = 0; i < t->n; i++)
			for (size_t k = 0; k < t->n; k++)
				t->ties[i].blocked +=
					t->ties[k].rank != t->ties[i].rank && is_cause(&t->ties[k], &t->ties[i]);
	}
	next = choose_tie(t);
	assert(next && !next->done); /* the first record that a stream has left can always go */
	next->done = true;
	t->done++;
	if (next->tenure != NO_LANE) {
		struct tenure *x = &t->tenures[next->tenure];
		struct lane *l = &t->lanes[x->lane];

		assert(l->holders >= tenure_holds(x));
		assert(next->enters || (x->leaves > 0 && l->leaves > 0)); /* tie_look_at() counted this record */
		l->holders -= tenure_holds(x);
		x->leaves -= !next->enters;
		l->leaves -= !next->enters;
		x->inside = next->enters;
		l->holders += tenure_holds(x);
	}
	for (struct tie *tie = t->ties; tie < t->ties + t->n; tie++)
		tie->blocked -= !tie->done && tie->rank != next->rank && is_cause(next, tie);
	return next->event;
}
