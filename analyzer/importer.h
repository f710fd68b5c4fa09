/*
 * importer.h -- records in, a database out: the fold and the store, joined. bsa_import pulls records from a
 * decoder into it; the babeltrace2 plugin pushes them.
 *
 * One thread. Nothing is seen at the output path before bsa_importer_finish has succeeded.
 */
#ifndef BSA_IMPORTER_H
#define BSA_IMPORTER_H

#include "bsa/err.h"
#include "fold/event.h"

#include <stdbool.h>
#include <stdint.h>

struct bsa_asked;
struct bsa_trace;
struct bsa_decoded;
struct bsa_machine_state;

struct bsa_importer_options {
	const char *output;
	bool keep_operations;
	bool unchecked;      /* no record has what was not recorded: each trace gets a loss of that cause */
	bool append;         /* into the database that is there; without it that one is replaced */
	uint64_t horizon_ns; /* how late a summary may report a lane, in traces that have summaries; 0: 1 s */
	/* the user of the service (users.h); NULL: it is found out. Borrowed for the call */
	const uint32_t *service_uid;
	/* results of the first pass; NULL: this is the first pass. Borrowed for the call */
	const struct bsa_importer_users *users;
	/*
	 * the services that were asked for alone, as the first pass found them; NULL: they are not known.
	 * Borrowed for the call
	 */
	const struct bsa_asked *asked;
	bool ends; /* events after the end of their recording are left out (bsa_importer_wants_ends) */
};

/* The user of the service, in each clock group. */
enum { BSA_IMPORTER_GROUPS = 64 };
struct bsa_importer_users {
	struct {
		uint32_t service, rival; /* as in users.h, like the next */
		uint32_t forgers[8];
	} of[BSA_IMPORTER_GROUPS];
};

/* Counts of executions: all, and the incomplete ones by reason. */
struct bsa_importer_counts {
	uint64_t executions, incomplete, touched_by_loss;
	uint64_t holes;     /* times that were not recorded, and not counted as lost */
	uint64_t impostors; /* events of users other than those in the events */
	uint64_t unusable;  /* events that cannot be, or with a number that cannot be: bsa_left_out */
	uint64_t after_end; /* events later than the end of their recording, which were left out */
};

struct bsa_importer;

/* 0 and *ret owned by the caller, or negative. */
int bsa_importer_new(struct bsa_importer **ret, const struct bsa_importer_options *options, struct bsa_err *err);

/* NULL is fine. What was not finished is gone. Returns NULL. */
struct bsa_importer *bsa_importer_free(struct bsa_importer *im);

/* A trace, before its records; the first is number 1. BSA_E_INPUT: it is in the database already. */
int bsa_importer_trace(struct bsa_importer *im, const struct bsa_trace *trace, struct bsa_err *err);

/*
 * Add a state of a cpu, on the clock of the first trace. Call this after the traces are added, and before all
 * records.
 */
void bsa_importer_machine(struct bsa_importer *im, const struct bsa_machine_state *state);

/* Before finish: as bsa_store_kernel. */
void bsa_importer_kernel(struct bsa_importer *im, uint64_t read, uint64_t left_out, uint64_t delays);

/* The next record, in the order of time within its clock group; groups come one after the other. */
int bsa_importer_event(struct bsa_importer *im, const struct bsa_event *e, struct bsa_err *err);

/* The decoder's counts of trace @number: after its records, before finish. */
int bsa_importer_decoded(struct bsa_importer *im, uint32_t number, const struct bsa_decoded *decoded,
                         struct bsa_err *err);

/* Everything that is known once everything was seen; then the database appears. */
int bsa_importer_finish(struct bsa_importer *im, struct bsa_err *err);

/* Stop: the current call and all later ones fail with BSA_E_STOPPED soon. Async-signal-safe. */
void bsa_importer_stop(struct bsa_importer *im);

/* Counts so far. */
struct bsa_importer_counts bsa_importer_counts(const struct bsa_importer *im);

/*
 * After the last record, and before finish: events of services that were not asked for counted, before it was
 * known which those are. The traces are to be imported again, with *ret. False: *ret untouched.
 */
bool bsa_importer_wants_asked(const struct bsa_importer *im, struct bsa_asked *ret);

/*
 * After the last record, and before finish: events of users counted, or did not, before it was known who the
 * service's user is. The traces are to be imported again, with *ret.
 */
bool bsa_importer_wants_users(struct bsa_importer *im, struct bsa_importer_users *ret);

/*
 * After the last record, and before finish: when a recording was ended, LTTng stopped the service before its
 * clients, a client before its service, or any program long before another one. Events after that end are not part of
 * the recording. The caller must import again with .ends.
 */
bool bsa_importer_wants_ends(const struct bsa_importer *im);

/*
 * After the last record, before or after finish: how late the latest summary of all reported a lane, when
 * that was more than this importer allowed for: the traces are to be imported again, with that as horizon_ns.
 * 0: it was in time.
 */
uint64_t bsa_importer_wants_horizon(const struct bsa_importer *im);

#endif
