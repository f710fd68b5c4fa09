/*
 * emit_case.c -- FILE NUMBER PROVIDER: emit the compact events of a case of analyzer/case_file.h through the
 * real provider; the case begins now. The events carry their times, so LTTng records them exactly. They are
 * emitted when the case is over, so late that their streams must be closed: while a stream is open, the end
 * of the recording may lack a summary that late.
 *
 * Exit status 2: wrong arguments; 3: there is no such case; 4: it has events whose time is the tracer's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nbt/nbt.h>

#include "analyzer/case_file.h"
#include "analyzer/script.h"
#include "analyzer/timeline.h"
#include "base.h"

enum { WRONG_USAGE = 2, NO_SUCH_CASE = 3, NOT_EXACT = 4 };

static void wait_until(uint64_t at)
{
	const struct timespec t = { (time_t)(at / 1000000000), (long)(at % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		continue;
}

/* Emit the events of the programs, live, before all others. Returns whether @e is of that kind. */
static bool tell_who(const struct bsa_event *e)
{
	if (e->kind == BSA_service_state) {
		const struct bsa_service_state *s = BSA_OF(e, service_state);

		NBT(service_state, .pid = s->pid, .instance = s->instance, .policy = s->policy,
		    .preempt_mode = s->preempt_mode, .lanes = s->lanes, .spin_us = s->spin_us, .contract = s->contract,
		    .deadlines = s->deadlines);
	} else if (e->kind == BSA_client_connect) {
		const struct bsa_client_connect *c = BSA_OF(e, client_connect);

		NBT(client_connect, .conn = c->conn, .pid = c->pid, .uid = c->uid, .app = c->app, .name = c->name);
	} else if (e->kind == BSA_model_prepare) {
		const struct bsa_model_prepare *m = BSA_OF(e, model_prepare);

		NBT(model_prepare, .model = m->model, .conn = m->conn, .name = m->name, .priority = m->priority,
		    .ops = m->ops, .estimate_ns = m->estimate_ns, .step_ns = m->step_ns);
	} else if (e->kind == BSA_stream_open) {
		const struct bsa_stream_open *s = BSA_OF(e, stream_open);

		NBT(stream_open, .stream = s->stream, .conn = s->conn, .path = s->path, .model = s->model,
		    .spin_us = s->spin_us, .cache = s->cache, .client_spin_us = s->client_spin_us);
	} else {
		return false;
	}
	return true;
}

static void tell_client(const struct bsa_exec_client *x, uint64_t base)
{
	struct nbt_exec_client e = { .exec = x->exec,
		                     .model = x->model,
		                     .path = x->path,
		                     .deadline_ns = x->deadline_ns ? base + x->deadline_ns : 0,
		                     .status = x->status,
		                     .fallback = x->fallback,
		                     .began = base + x->began,
		                     .duration_ns = x->duration_ns,
		                     .delay_ns = x->delay_ns,
		                     .gap_ns = x->gap_ns,
		                     .turns = x->turns };

	memcpy(e.at, x->at, sizeof(e.at));
	if (nbt_on(NBT_EVENT_exec_client))
		nbt__seam.emit[NBT_EVENT_exec_client](&e);
}

static void tell_service(const struct bsa_exec_service *x, uint64_t base)
{
	struct nbt_exec_service e = { .exec = x->exec,
		                      .model = x->model,
		                      .app = x->app,
		                      .priority = x->priority,
		                      .path = x->path,
		                      .lane = x->lane,
		                      .status = x->status,
		                      .began = base + x->began,
		                      .lookups = x->lookups,
		                      .misses = x->misses,
		                      .preemptions = x->preemptions,
		                      .deadline_ns = x->deadline_ns ? base + x->deadline_ns : 0 };

	memcpy(e.at, x->at, sizeof(e.at));
	memcpy(e.delays, x->delays, sizeof(e.delays));
	if (nbt_on(NBT_EVENT_exec_service))
		nbt__seam.emit[NBT_EVENT_exec_service](&e);
}

/* The time of the last event. Ends the program if an event cannot be emitted with its time. */
static uint64_t duration(const char *text)
{
	struct script *s = script_new(text);
	const struct bsa_event *e;
	uint64_t last = 0;

	while ((e = script_next(s))) {
		last = e->at;
		if (e->kind != BSA_exec_client && e->kind != BSA_exec_service && e->at)
			exit(NOT_EXACT);
	}
	script_free(s);
	return last;
}

/* Emit the ends of streams: no more executions follow. */
static void tell_ends(const char *text)
{
	struct script *s = script_new(text);
	const struct bsa_event *e;

	while ((e = script_next(s)))
		if (e->kind == BSA_stream_open)
			NBT(stream_close, .stream = BSA_OF(e, stream_open)->stream, .reason = NBT_reason_client);
	script_free(s);
}

static void tell_case(const char *text)
{
	uint64_t lasts = duration(text), base;
	struct script *s = script_new(text);
	const struct bsa_event *e;

	while ((e = script_next(s)) && tell_who(e))
		continue;
	base = now_ns();
	wait_until(base + lasts); /* no event is emitted before its time */
	for (; e; e = script_next(s)) {
		if (e->kind == BSA_exec_client)
			tell_client(BSA_OF(e, exec_client), base);
		else
			tell_service(BSA_OF(e, exec_service), base);
	}
	script_free(s);
	tell_ends(text);
}

int main(int argc, char **argv)
{
	struct case_file f;
	const char *why;
	size_t number;
	char *text, *end;

	if (argc != 4)
		return WRONG_USAGE;
	number = strtoul(argv[2], &end, 10);
	if (argv[2][0] < '0' || argv[2][0] > '9' || *end)
		return WRONG_USAGE;
	case_file_read(&f, argv[1]);
	if (number >= f.n)
		return NO_SUCH_CASE;
	if (!(f.cases[number].forms & CASE_COMPACT) || f.cases[number].lossy)
		return NOT_EXACT;
	if (nbt_open(argv[3], &why)) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	text = timeline(f.cases[number].trace, TIMELINE_COMPACT);
	tell_case(text);
	printf("%s\n", f.cases[number].name);
	free(text);
	case_file_fini(&f);
	return 0;
}
