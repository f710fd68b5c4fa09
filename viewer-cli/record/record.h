/*
 * record.h -- a recording, from the daemon that is needed to what was lost.
 */
#ifndef BSV_RECORD_H
#define BSV_RECORD_H

#include "record/daemon.h"
#include "record/packets.h"
#include "record/probe.h"
#include "record/room.h"
#include "record/session.h"

struct bsv_recording_options {
	const char *directory; /* does not exist, or is empty; NULL: one is made in the working directory */
	enum bsv_detail detail;
	uint64_t buffer; /* bytes for each cpu; 0: as large as seems right */
	uint64_t
		/* bytes to leave free on the file system of the recording; 0: no limit; UINT64_MAX: the default */
		min_free;
	bool quiet, verbose;
	bool snapshot; /* the buffers keep the latest events; the directory exists, and no other process writes to it */
	/* set if the recording is read while it grows; the directory then keeps the latest files */
	struct bsv_live_session live;
	struct bsv_scope scope;
	bool kernel;      /* the scheduling of the machine, too */
	uint64_t hold_ns; /* the time that the buffers of a snapshot should hold */
};

struct bsv_recording {
	struct bsv_recording_options options;
	const struct bsv_lttng *lttng;
	struct bsv_daemon daemon;
	struct bsv_session session;
	struct bsv_machine machine;
	bool cut;               /* the daemon ended, and it is unknown what was recorded */
	char *name, *directory; /* as people call it, and absolute */
	bool entered, made;     /* the directory: it is ours to write to; made by us */
	unsigned programs;      /* that could be recorded when it began */
	uint64_t rate;          /* bytes a second that they wrote on the busiest cpu, just before; 0: unknown */
	struct bsv_probed probed;
	struct bsv_room_left room;
	uint64_t began, ended; /* CLOCK_MONOTONIC */
	uint64_t stopping_ns;  /* how long LTTng took to stop the session */
	int64_t boottime;      /* CLOCK_BOOTTIME less that, when it began */
};

/*
 * Everything but the start: what would be recorded, where, with which buffers. Nothing is made. To
 * be given to bsv_recording_close.
 */
int bsv_recording_plan(struct bsv_recording *r, const struct bsv_recording_options *options, struct bsa_err *err);

/* Record from now on, as planned. Signals are best held, see workload.h. BSA_E_USAGE: the directory; BSA_E_ENV. */
int bsv_recording_start(struct bsv_recording *r, struct bsa_err *err);

/*
 * The recording is about service @pid, which was started after the recording. LTTng records other services, too, but
 * the import leaves them out.
 */
void bsv_recording_is_of_service(struct bsv_recording *r, pid_t pid);

/* Write into @directory how it is recorded, for an import of a part of it from there: a snapshot. */
void bsv_recording_note(const struct bsv_recording *r, const char *directory);

/* Everything is in files, and the session is gone. Our own daemon, too. BSA_E_ENV: what there is is kept. */
int bsv_recording_stop(struct bsv_recording *r, struct bsa_err *err);

/* Record no more: what comes now is not meant. The rest is bsv_recording_stop's. */
void bsv_recording_end(struct bsv_recording *r);

/* Whether there is room to go on; if it becomes short, a warning is printed. */
bool bsv_recording_has_room(struct bsv_recording *r);

/*
 * Stop what is not stopped, and forget it. A directory that has nothing in it is removed if we made
 * it. All 0 is fine.
 */
void bsv_recording_close(struct bsv_recording *r);

struct bsv_recorded {
	uint64_t bytes, files_bytes; /* bytes of events (0: no event was recorded), and of all files */
	uint64_t ns,
		stopping_ns; /* the recording; how long LTTng took to stop it, while programs may have emitted events */
	uint64_t lost_events, lost_packets;
	size_t n_streams, n_short; /* buffers; those of which the end is missing */
	uint64_t whole_ns;         /* from the begin of the recording: the time for which all buffers have events */
	uint64_t holes;        /* intervals that the import found not to be recorded; 0, too, if it was not imported */
	unsigned cut_metadata; /* traces of which nothing can be read */
	int end;               /* the result of LTTng; LTTNG_OK: no error */
	uint32_t cpu;          /* where most events were lost in a row */
	uint64_t lost_most, rate; /* events lost in a row there, and the highest rate in bytes per second */
	struct bsv_advice advice; /* .size 0: no advice */
};

/* The result of a recording that was stopped. */
int bsv_recording_result(struct bsv_recording *r, struct bsv_recorded *ret, struct bsa_err *err);

/*
 * Add the holes that the import found. Only the import decides what was not recorded, and
 * burstscope doctor uses the same.
 */
struct bsa_imported;
void bsv_recording_imported(struct bsv_recorded *done, const struct bsa_imported *imported);

/* Add the advice. @events: number of events in the recording; 0: unknown. */
void bsv_recording_advise(const struct bsv_recording *r, struct bsv_recorded *done, uint64_t events);

/* Report on standard error what was lost, and what would have kept it. */
void bsv_recording_report_lost(const struct bsv_recording *r, const struct bsv_recorded *done);

/* Whether all that LTTng had to write is written: 0; BSA_E_ENV. What it dropped is another thing. */
int bsv_recording_written(const struct bsv_recording *r, const struct bsv_recorded *done, struct bsa_err *err);

/* PREFIX-YYYYmmdd-HHMMSS, and a number more where that is there already. Owned by the caller; NULL: no memory. */
char *bsv_stamped(const char *prefix);

#endif
