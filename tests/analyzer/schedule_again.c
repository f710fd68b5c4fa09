/* schedule_again.c -- see schedule_again.h. */
#include "analyzer/schedule_again.h"

#define NEVER BSA_NEVER

/* Is @e of something that lasts? Then it reports that this has been there since @e. */
static bool event_is_told_again(struct sim_event *e)
{
	switch (e->event.kind) {
	case BSA_service_state:
		e->of.service_state.since = e->event.at;
		return true;
	case BSA_client_connect:
		e->of.client_connect.since = e->event.at;
		return true;
	case BSA_model_prepare:
		e->of.model_prepare.since = e->event.at;
		return true;
	case BSA_stream_open:
		e->of.stream_open.since = e->event.at;
		return true;
	default:
		return false;
	}
}

/* The phase that execution @i is in at @at; -1: no service has it. *lane: its latest one. */
static int state_of_execution(const struct sim *s, uint32_t i, uint64_t at, uint8_t *lane)
{
	const struct sim_exec *x = &s->execs[i];
	uint64_t over = x->at[x->at[BSA_SIGNALLED] != NEVER ? BSA_SIGNALLED : BSA_RESULT_WRITTEN];
	int state = at < x->at[BSA_ENQUEUED] ? BSA_STATE_DECODE : BSA_STATE_QUEUED;

	*lane = BSA_LANE_NONE;
	if (x->at[BSA_REQUEST_READ] > at || over <= at)
		return -1;
	for (size_t k = 0; k < s->n_slices; k++)
		if (s->slices[k].exec == i && s->slices[k].began <= at) {
			*lane = s->slices[k].lane;
			state = at < s->slices[k].ended || s->slices[k].ended == x->at[BSA_RUN_ENDED]
			                ? BSA_STATE_RUNNING
			                : BSA_STATE_PREEMPTED;
		}
	return state;
}

/* When the wait began that execution @i is in at @at; 0: it is in none. */
static uint64_t waits_since(const struct sim *s, uint32_t i, uint64_t at)
{
	for (size_t k = 0; k < s->n_waits; k++)
		if (s->waits[k].exec == i && s->waits[k].began <= at && at < s->waits[k].ended)
			return s->waits[k].began;
	return 0;
}

size_t sim_tell_again(const struct sim *s, uint64_t at, bool knows_waits, struct sim_event *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_events && s->events[i].event.at < at; i++) {
		ret[n] = s->events[i];
		if (!event_is_told_again(&ret[n]))
			continue;
		ret[n++].event.at = at;
	}
	for (uint32_t i = 0; i < s->n_execs; i++) {
		const struct sim_exec *x = &s->execs[i];
		struct bsa_exec_state e = { .exec = x->exec,
			                    .deadline_ns = x->at[BSA_DECODED] <= at ? x->deadline : 0,
			                    .since = at,
			                    .model = s->models[x->model].number,
			                    .app = s->apps[x->app].key,
			                    .priority = x->priority,
			                    .path = x->path };
		int state = state_of_execution(s, i, at, &e.lane);

		if (state < 0)
			continue;
		e.phase = (uint8_t)state;
		if ((state == BSA_STATE_QUEUED && knows_waits) || state == BSA_STATE_PREEMPTED)
			e.ready_ns = waits_since(s, i, at);
		ret[n++] = (struct sim_event){ .event = { at, 1, BSA_exec_state, sizeof(struct bsa_event) + sizeof(e) },
			                       .of.exec_state = e };
	}
	return n;
}
