/*
 * schedule_sim.h -- a service, its apps and their executions on a clock of its own, scheduled by
 * runtime/policy/policy.c: as events, each in the order and with the fields that the runtime gives it, and as the
 * truth behind them.
 *
 * All of it follows from a seed. The truth is kept beside the events, and never made from them.
 */
#ifndef SCHEDULE_SIM_H
#define SCHEDULE_SIM_H

#include "fold/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_LANES = 3, SIM_SERVICES = 2, SIM_APPS = 8, SIM_MODELS = 24, SIM_STREAMS = 64 };

/* In which form of a recording an event is there. */
enum { SIM_FULL = 1, SIM_COMPACT = 2, SIM_RARE = SIM_FULL | SIM_COMPACT };

union sim_fields {
#define K(name) struct bsa_##name name;
	BSA_KINDS(K)
#undef K
};

struct sim_event {
	struct bsa_event event; /* right behind it is what is of its kind: it is a record */
	union sim_fields of;
	uint32_t order; /* among events of one time: as they were written */
	uint32_t whose; /* an execution, as in sim.execs, from 1; 0: of none */
	uint8_t forms, cpu;
	bool lost;
};

struct sim_app {
	uint32_t key, uid, service;
};

struct sim_model {
	uint32_t number, app, ops;
	uint64_t op_ns[8], step_ns, estimate_ns;
	uint8_t priority;
};

struct sim_stream {
	uint32_t number, app, model; /* model: of bursts */
	uint64_t opened, closed;
	uint32_t next;
	uint8_t path;
};

struct sim_exec {
	uint64_t exec, at[BSA_BOUNDARIES], deadline, estimate;
	uint64_t redo, cpu, missed_at, over_at; /* over_at: its last event, a summary's aside */
	uint64_t delay[BSA_DELAYS];             /* UINT64_MAX: not read */
	int64_t over;
	struct bsa_waited request, result;
	uint32_t service, app, model, stream, lookups, misses, preemptions;
	uint32_t nth_ready, nth_over, n_ready;
	uint8_t path, priority, status, miss, stage;
	int16_t lane; /* lane of its last stretch; -1: no stretch yet */
	bool refused; /* before it was ready */
};

/* On a lane. */
struct sim_slice {
	uint64_t began, ended;
	uint32_t exec, service;
	uint8_t lane;
	bool first;
};

/* Ready and on none. Its lane is where it was dispatched next, or 0. */
struct sim_wait {
	uint64_t began, ended;
	uint32_t exec, service;
	uint8_t lane, kind;
};

struct sim_preemption {
	uint64_t asked, stopped, resumed, redo;
	uint32_t exec, by;
	uint16_t at_op;
	uint8_t mode, lane;
};

/* Executions are numbered as they lie in @execs. */
struct sim {
	struct sim_event *events; /* in the order of time */
	struct sim_exec *execs;
	struct sim_slice *slices; /* in the order of their ends */
	struct sim_wait *waits;   /* likewise */
	struct sim_preemption *preemptions;
	size_t n_events, n_execs, n_slices, n_waits, n_preemptions;
	struct sim_app apps[SIM_APPS];
	struct sim_model models[SIM_MODELS];
	struct sim_stream streams[SIM_STREAMS];
	uint32_t n_apps, n_models, n_streams, n_services;
	struct sim_service {
		uint16_t instance;
		uint32_t lanes, policy, deadlines; /* numbers of the contract; policy: of what is not native */
		bool native;                       /* no lanes at all */
	} services[SIM_SERVICES];
	uint64_t began, ended;
};

struct sim_terms {
	uint64_t seed;
	uint32_t executions;        /* about so many */
	uint64_t summaries_late_ns; /* each is by up to so much */
	uint64_t early_ns;          /* boundaries in summaries are earlier than their events by up to so much */
	bool no_ends;               /* recording ends while everything goes on */
	uint32_t slow;              /* some models run so many times longer; 0: none do */
	/*
	 * As a replay can know it: apps, models, calls and the length of each operation are left to chance, and
	 * nothing else. No execution is cancelled, nothing fails, no call is fenced, and the service keeps deadlines
	 * as sched/run.c does.
	 */
	bool plain;
	uint64_t wake_ns,
		give_ns; /* then: from being handed a lane until it runs; from its end until it gives its lane */
};

void sim_play(struct sim *ret, const struct sim_terms *terms);
void sim_free(struct sim *s);

/* A number below @n, of a series. */
uint64_t sim_random(uint64_t *series, uint64_t n);

#endif
