/*
 * session.h -- one LTTng session of ours: made, started, looked at, stopped and destroyed, or printed as commands.
 */
#ifndef BSV_SESSION_H
#define BSV_SESSION_H

#include "record/control.h"
#include "record/scope.h"
#include "record/sizing.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { BSV_SESSION_NAME = 96, BSV_SESSION_LIMIT_MS = 30000 };

/* Settings of a session that is read while it records. */
struct bsv_live_session {
	uint64_t file_bytes; /* limit of a trace file */
	unsigned files;      /* trace files of each buffer; then the first one is overwritten */
	/*
	 * period after which packets are written even if they are not full; 0: the session is not
	 * read while it records
	 */
	unsigned timer_us;
};

struct bsv_session {
	const struct bsv_lttng *lttng;
	char name[BSV_SESSION_NAME];
	const char *directory; /* borrowed */
	enum bsv_detail detail;
	struct bsv_buffers buffers;
	/* the newest events replace the oldest in the buffers, and nothing is written but by bsv_session_snapshot */
	bool snapshot;
	struct bsv_live_session live;
	struct bsv_scope scope;
	bool kernel; /* record the scheduling of the machine, too */
	bool made, started;
	uint64_t stuck_ms; /* 0, or LTTng wrote nothing for so long, and reported that there was something to write */
	uint64_t limit_ms; /* 0: BSV_SESSION_LIMIT_MS */
	uint64_t lost_events, lost_packets; /* as of the last look */
	/*
	 * once it is destroyed, the code with which LTTng ended it: LTTNG_OK; anything else:
	 * something of it may be missing
	 */
	int end;
};

/* A name that no other process has, and that shows whose it is. */
void bsv_session_name(char ret[BSV_SESSION_NAME]);

/* Can the session daemon record the kernel? 0; BSA_E_ENV: it cannot. */
int bsv_session_check_kernel(const struct bsv_lttng *lttng, struct bsa_err *err);

/* 0; BSA_E_ENV: the session daemon has lost its consumer daemon, and records nothing. */
int bsv_session_check_consumer(const struct bsv_lttng *lttng, struct bsa_err *err);

/* Make and start it. Nothing is left of it on failure. BSA_E_ENV. */
int bsv_session_start(struct bsv_session *s, struct bsa_err *err);

/* Count the losses. BSA_E_ENV: the session has ended. */
int bsv_session_look(struct bsv_session *s, struct bsa_err *err);

/*
 * Does LTTng still record into it? 0; BSA_E_ENV: the consumer daemon has died, or another program
 * has ended the session.
 */
int bsv_session_check(const struct bsv_session *s, struct bsa_err *err);

/*
 * Stop it, and wait until everything is in files. BSA_E_ENV: the daemon has gone; or something is
 * left to write, and nothing was written for limit_ms, or for a sixth of it while a program is
 * stopped. After such a failure, the next call fails at once while data is pending.
 */
int bsv_session_flush(struct bsv_session *s, struct bsa_err *err);

/* The same, see what was lost, and destroy it. BSA_E_ENV: the daemon has gone. Not started is fine. */
int bsv_session_stop(struct bsv_session *s, struct bsa_err *err);

/* Write what the buffers hold into @directory, which LTTng makes or fills, and go on. BSA_E_ENV. */
int bsv_session_snapshot(const struct bsv_session *s, const char *directory, struct bsa_err *err);

/* Have the service emit again what there is (docs/events.md, rule 5), so that the buffers hold it. BSA_E_ENV. */
int bsv_session_retell(const struct bsv_session *s, struct bsa_err *err);

/*
 * Where session @name, of whomever, writes to. *ret_holds_back: LTTng keeps events and metadata in
 * memory until a packet is full, because the session is active and not every channel has a switch
 * timer, or there is no channel "metadata". BSA_E_ENV: there is no such session, or no
 * daemon, or the session writes to no files.
 */
int bsv_session_find(const struct bsv_lttng *lttng, const char *name, char ret[PATH_MAX], bool *ret_holds_back,
                     struct bsa_err *err);

/* Does @name, of a session or a trigger, show that a burstscope of this pid namespace made it, and has ended? */
bool bsv_session_is_stale(const char *name);

/* Does the daemon have no session, of whomever? Then everything that it recorded is in files. */
bool bsv_session_none(const struct bsv_lttng *lttng);

/* Destroy those of ours whose processes are gone, without a farewell. Returns how many there were. */
unsigned bsv_session_sweep(const struct bsv_lttng *lttng);

/* The commands of lttng(1) that start the same, and those that end it. */
void bsv_session_print_start(const struct bsv_session *s, FILE *to);
void bsv_session_print_stop(const struct bsv_session *s, FILE *to);

/* @word, as a shell reads it back. */
void bsv_print_word(const char *word, FILE *to);

#endif
