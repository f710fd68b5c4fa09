/*
 * past.h -- reads from a recording all that a replay needs: the calls with their apps and times,
 * their run times, and the rules.
 *
 * Times are in ns since the recording began. Unknown is BSA_REPLAY_NEVER.
 */
#ifndef BSV_WHATIF_PAST_H
#define BSV_WHATIF_PAST_H

#include "bsa/db.h"
#include "replay/replay.h"

#include <stddef.h>

/* How the next call of a chain comes about. */
enum bsv_loop {
	BSV_LOOP_CLOSED, /* a while after the answer */
	BSV_LOOP_OPEN,   /* when it is due, unless its thread still waits for an answer */
	BSV_LOOP_APART   /* when it is due */
};

enum {
	BSV_DELAYED_ALL = 254,    /* parts of a run */
	BSV_DELAYED_UNKNOWN = 255 /* not recorded, as of fenced executions: not the same as none */
};

struct bsv_past_call { /* there are millions of them */
	uint64_t submitted, answered, deadline;
	uint64_t send_ns, ready_ns, answer_ns, run_ns;
	uint64_t due; /* when its thread would have submitted it, had it not had to wait */
	uint32_t model;
	uint8_t priority, path;
	uint8_t delayed;   /* 254ths of the run in which the thread was ready and had no cpu; BSV_DELAYED_UNKNOWN */
	bool whole : 1;    /* run_ns is all that it needs; otherwise it needs more */
	bool served : 1;   /* with a result */
	bool missed : 1;   /* its deadline */
	bool trial : 1;    /* a trial run of the service; no app submitted it */
	bool imagined : 1; /* the call was due while its thread waited, and was left out */
	unsigned how : 3;  /* enum bsa_replay_hand: how it came to the lane on which it ended */
};

/* A model that an app prepared. */
struct bsv_past_model {
	uint32_t app, group;
	uint64_t step_ns, estimate_ns, floor_ns;
	uint64_t least_ns; /* the shortest recorded whole run; 0: none */
	uint64_t look_ns;  /* between two looks inside an operation, where what is computed is kept; 0: not known */
	int64_t operations;
	bool confirmed; /* an execution had confirmed the floor when the recording began */
	int64_t id;
};

/* Whole runs whose delay was recorded, in the order of past.calls. */
struct bsv_past_delays {
	uint32_t *calls; /* owned; of past.calls */
	size_t n;
};

/* A group is reported together: the executions of an app with all models of one name. */
struct bsv_past_group {
	char *app_name, *model_name; /* owned */
	uint32_t chains[5];          /* the newest one of each path, from 1; 0: none */
	uint32_t app;
	size_t n;                          /* calls; trials are in no group */
	size_t n_served, n_missed, n_late; /* n_late: of the served ones */
	bool open, closed, apart;          /* some of its chains are */
	struct bsv_past_delays delays;     /* of its own */
};

struct bsv_past_chain {
	uint32_t *calls; /* owned; of past.calls, in the order of their coming */
	size_t n;
	uint32_t model, path;
	enum bsv_loop loop;
	uint32_t beside; /* another one of its group and path, from 1; 0: none */
	bool single; /* its thread waited for one answer, and submitted nothing else: whether it would is not known */
	bool fails;  /* a call of the chain was not served */
	uint32_t hows[BSA_REPLAY_HANDS + 1]; /* how many calls that were served came to their lanes in each way */
	bool skips;         /* calls that are due while the thread waits are left out, except for the latest */
	uint64_t budget_ns; /* from due to deadline, of an open loop; BSA_REPLAY_NEVER: each call has its own */
	uint64_t ends;      /* the recording covers it until then */
};

enum { BSV_PARTS = 1024 /* parts of a recording, of equal length: an index of what took place near a time */ };

struct bsv_past_times {
	uint64_t *ns; /* owned; in the order of when they were */
	size_t n;
	uint32_t first[BSV_PARTS + 1]; /* by part: the first one that was then, or later; behind the last part: n */
};

struct bsv_past {
	struct bsa_replay_rules rules;
	struct bsv_past_call *calls;
	struct bsv_past_model *models;
	struct bsv_past_group *groups;
	struct bsv_past_chain *chains;
	char **apps; /* their names */
	int64_t *app_ids;
	/* from the release of a lane until the next waiting execution ran on it */
	struct bsv_past_times hands[BSA_REPLAY_HANDS];
	/* from when an execution was asked to make room until it stopped, where its state is saved */
	struct bsv_past_times stops;
	size_t n_stalled; /* number of times an execution lost its lane because its thread could not use it */
	struct bsv_past_times begins; /* from when who found a lane free was ready until it ran there */
	size_t n_calls, n_models, n_groups, n_chains, n_apps;
	size_t n_recorded; /* number of recorded calls; the others are imagined */
	size_t n_unknown_runs;
	struct bsv_past_delays delays; /* of all groups */
	size_t n_runs;                 /* whole runs of apps, with those whose delay is unknown */
	/* of the whole runs whose delay is known: their length, and the part in which threads had no cpu */
	double delayed_run_ns, delay_ns;
	uint64_t length;
	uint64_t last_submitted; /* the last submission of any app */
	size_t n_fitted;         /* chains whose period was searched by trial */
	size_t n_single;         /* chains of a single call, whose thread waited for most of the recording */
	/* chains of few calls, whose threads waited for most of the recording: what else they would submit is not
	 * known */
	size_t n_starved;
};

/*
 * Read it. @with: as input.h has it. *cannot: why this recording cannot be replayed, a sentence
 * that is borrowed for good; NULL: it can; otherwise there are its models and no more. *ret is
 * owned by the caller, for bsv_past_fini, on failure too.
 */
int bsv_past_read(struct bsv_past *ret, struct bsa_db *db, const char *with, int64_t began, const char **cannot,
                  struct bsa_err *err);

/* All 0 is fine. */
void bsv_past_fini(struct bsv_past *past);

/* List the runs whose delay was recorded, and add them up. False: no memory. */
bool bsv_past_delays(struct bsv_past *past);

/* Find the chains, and how they go on. False: no memory. */
bool bsv_past_chains(struct bsv_past *past);

/* The part of the recording that @at is in. */
unsigned bsv_past_part(const struct bsv_past *past, uint64_t at);

#endif
