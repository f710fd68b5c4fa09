/*
 * live.h -- figures of a recording that still grows: rates, latencies, missed deadlines and their causes, by
 * app and model.
 *
 * The records come from the files (decode/follow.h), or from a relay daemon (decode/remote.h), and the fold
 * is the one of an import. So when the recording has ended and all of it was read, the sums equal those of an
 * import exactly, but for gaps (decode/follow.h, decode/remote.h: UNSEEN): struct bsa_live_state shows whether this
 * holds.
 *
 * TWO SPEEDS  Rates, latencies and misses are known with the last event of an execution. Waits, and so causes
 *             and shares, are known when no earlier event can arrive: with events of detail compact, a second
 *             later.
 * MEMORY      Bounded by the executions under way and by the last seconds. Ended executions leave only sums.
 * TRUST       Like decode/follow.h. A service whose records contradict each other is begun again (gaps).
 *
 * One thread.
 */
#ifndef BSA_LIVE_H
#define BSA_LIVE_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsa_live;

#define BSA_LIVE_UNKNOWN UINT64_MAX

#define BSA_LIVE_NOBODY UINT32_MAX

enum {
	BSA_LIVE_CAUSES = 28, /* as in relation miss_cause, by number */
	BSA_LIVE_NAME = 64,
	BSA_LIVE_MODEL = BSA_LIVE_NAME + 64, /* a name, and what is another one than in a model of the same name */
	BSA_LIVE_SECONDS = 5                 /* the last ones, in which all are counted that are not sums */
};

enum { BSA_LIVE_PHASES = 12 }; /* as in relation execution_phase, by number */

/* One execution, when all of it is known. Names are as strangers call them; "" is unknown. */
struct bsa_live_execution {
	const char *app, *model;
	const char *path, *status,
		*cause; /* as in relations execution and miss_cause; NULL: unknown, or it missed nothing */
	const char *priority, *quality, *sides; /* as in relation execution; NULL: unknown */
	uint32_t model_id;
	uint32_t uid; /* the app's user; BSA_LIVE_NOBODY: unknown */
	/* the first of its times that is known, on the clock of the trace; BSA_LIVE_UNKNOWN: no time is */
	uint64_t began;
	/* if its end was not seen: a time at which it was under way already; BSA_LIVE_UNKNOWN: no such time is
	 * known */
	uint64_t open_since;
	uint64_t deadline_at; /* 0: it has no deadline, or the deadline is unknown */
	unsigned lacks;       /* bits of phases that its path does not have */
	int cold;             /* burst: 1 or 0; -1: unknown, or not a burst */
	/* BSA_LIVE_UNKNOWN: unknown, or its path has no such phase; overhead is all but the useful run */
	uint64_t e2e_ns, run_ns, redo_ns, overhead_ns, phase_ns[BSA_LIVE_PHASES];
	/* for quality head: the part of its latency that the service saw; BSA_LIVE_UNKNOWN: not to the end of
	 * its run */
	uint64_t seen_ns;
	uint64_t preemptions, slot_lookups, slot_misses; /* BSA_LIVE_UNKNOWN: not all of them were recorded */
	bool complete, deadline, missed, outcome_unknown, deadline_unknown;
	bool app_named, model_named; /* the name in @app, or @model, was recorded */
};

/* A wait for a lane that is over. */
struct bsa_live_starved {
	const char *app, *model;
	uint32_t model_id;
	uint32_t uid; /* the app's user; BSA_LIVE_NOBODY: unknown */
	uint64_t ended, gap_ns;
};

/* Calls for who counts each of them. What is in them is borrowed for the call. Each may be NULL. */
struct bsa_live_calls {
	void *ctx;
	void (*execution)(void *ctx, const struct bsa_live_execution *x);
	/*
	 * For a window of time: the lane time that an app of user @uid received and was entitled to; and its
	 * largest lag.
	 */
	void (*share)(void *ctx, const char *app, uint32_t uid, uint64_t received_ns, uint64_t entitled_ns);
	void (*lag)(void *ctx, const char *app, uint32_t uid, int64_t lag_ns);
	/*
	 * A wait of more than bsa_live_options.starvation_ns, or at least so long. By the usual 100 ms it is
	 * starvation if the model's median run is less than a tenth of it.
	 */
	void (*starved)(void *ctx, const struct bsa_live_starved *s);
	/*
	 * Urgent work waited for so long while less urgent work of its app had the lane, and longer than one
	 * step of that work.
	 */
	void (*inverted)(void *ctx, uint64_t ended, uint64_t dur_ns);
	/*
	 * Not all that happened in this time is known: nothing may be concluded from what is missing there. @why: words
	 * for people, as "LTTng dropped or overwrote packets". Static.
	 */
	void (*lost)(void *ctx, uint64_t began, uint64_t ended, const char *why);
	/* A pool whose mapping has ended, or failed. Labels as in relation pool_mapping. */
	void (*mapped)(void *ctx, const char *owner, const char *kind, uint64_t bytes);
};

struct bsa_live_options {
	const char *directory; /* directory of the recording, which may not exist yet; NULL: see @url. Copied */
	const char *url;       /* URL of a session at a relay daemon: net://RELAY[:PORT][/host/HOST/SESSION]. Copied */
	uint64_t settle_ns;    /* a record that comes later than that is counted as late: it may make figures wrong */
	/* the recording has a summary of each side for each execution; found out, too, where a trace shows it */
	bool compact;
	bool calls_only;        /* there are to be no rows, no sums and no causes: the calls cost half as much then */
	uint64_t starvation_ns; /* 0: 100 ms */
	size_t keep_bytes;      /* limit of the records kept for bsa_live_save; 0: keep none */
	struct bsa_live_calls calls; /* copied */
};

/* 0 and *ret owned by the caller; BSA_E_ENV. */
int bsa_live_open(struct bsa_live **ret, const struct bsa_live_options *options, struct bsa_err *err);
struct bsa_live *bsa_live_free(struct bsa_live *l); /* NULL is fine; returns NULL */

/* Read and fold what has grown. @now: CLOCK_MONOTONIC. 0; BSA_E_ENV. */
int bsa_live_look(struct bsa_live *l, uint64_t now, struct bsa_err *err);

/*
 * When to look next. *ret_fd: a descriptor that becomes readable when the recording grows, valid until the
 * next call; -1: no descriptor shows that. Returns the time, as @now above, from which on a look hands out
 * records that wait now, though nothing grows; BSA_LIVE_UNKNOWN: no record waits.
 */
uint64_t bsa_live_next(const struct bsa_live *l, int *ret_fd);

/*
 * Make a database at @output of the records that are kept, and of what was known before them. It reads
 * nothing again, and takes as long as an import. 0; BSA_E_ENV, BSA_E_INPUT: no database was made, and @output
 * does not exist.
 */
int bsa_live_save(const struct bsa_live *l, const char *output, struct bsa_err *err);

/* The recording is over, and all of it is in files. Then only what there is may be asked for. 0; BSA_E_ENV. */
int bsa_live_finish(struct bsa_live *l, struct bsa_err *err);

/* From now on in another directory: what was under way in the first one is over. Sums go on. 0; BSA_E_ENV. */
int bsa_live_move(struct bsa_live *l, const char *directory, struct bsa_err *err);

/* Sums of an app and a model since the beginning. */
struct bsa_live_sum {
	uint64_t executions, missed, incomplete, slot_misses;
	uint64_t run_ns, queue_ns; /* sums over executions for which they are known */
	uint64_t by_cause[BSA_LIVE_CAUSES];
};

static inline void bsa_live_sum_add(struct bsa_live_sum *to, const struct bsa_live_sum *sum)
{
	to->executions += sum->executions;
	to->missed += sum->missed;
	to->incomplete += sum->incomplete;
	to->slot_misses += sum->slot_misses;
	to->run_ns += sum->run_ns;
	to->queue_ns += sum->queue_ns;
	for (unsigned i = 0; i < BSA_LIVE_CAUSES; i++)
		to->by_cause[i] += sum->by_cause[i];
}

struct bsa_live_row {
	char app[BSA_LIVE_NAME + 16], model[BSA_LIVE_MODEL]; /* as strangers call them; "" is unknown */
	uint32_t app_id;
	uint32_t key, uid; /* the service's number of the app, a uid or a pid, and its user; BSA_LIVE_NOBODY: unknown */
	/* in the last seconds */
	uint64_t executions, answered, missed, slot_misses, by_cause[BSA_LIVE_CAUSES];
	uint64_t p50_ns, p99_ns;   /* latency of answered executions, within 3 %; BSA_LIVE_UNKNOWN: no answers */
	uint64_t run_ns, queue_ns; /* on lanes, and waiting for them, of those that are over */
	uint64_t received_ns, entitled_ns;       /* lane time of its app */
	uint64_t per_slot[BSA_LIVE_SECONDS * 2]; /* executions, the oldest first */
	struct bsa_live_sum sum;
};

/* Where the records come from. Files of this machine are always being read. */
enum bsa_live_source {
	BSA_LIVE_READING,
	BSA_LIVE_CONNECTING, /* the relay has not answered yet */
	BSA_LIVE_LOST,       /* the relay has gone; it is asked again each second */
	BSA_LIVE_ENDED       /* the session at the relay is over, and all of it was read */
};

struct bsa_live_state {
	uint64_t until;  /* everything is known up to this time, on the clock of the trace; 0: nothing */
	uint32_t source; /* enum bsa_live_source */
	/* 1: events may not have been seen: before the reading began, while the relay was gone, or at the
	 * end */
	uint32_t missed;
	/* lead of the trace's clock over CLOCK_MONOTONIC here; for another host by wall clocks, otherwise 0 */
	int64_t clock_lead_ns;
	uint64_t window_ns; /* length of "the last seconds" */
	struct bsa_live_sum sum;
	/*
	 * At @until: executions whose clients wait for the answer, how many of them are past their deadline
	 * (by_cause and missed have these when they end), how long the longest has waited, and for how long its
	 * service has had its request and emitted nothing. BSA_LIVE_UNKNOWN: not known, of compact events never.
	 */
	uint64_t awaited, overdue, awaited_ns, silent_ns;
	/*
	 * At @until: for how long a service with requests to answer has emitted nothing, the longest of all
	 * services, if that is 100 ms or more, and ten times as long as an execution is estimated to run; 0: no
	 * service is so silent. It hangs, has died, or its events do not arrive. BSA_LIVE_UNKNOWN: as above.
	 */
	uint64_t stalled_ns;
	/* At @until: time since the last event of any program. BSA_LIVE_UNKNOWN: there was none. */
	uint64_t quiet_ns;
	uint64_t events; /* number of events read */
	uint64_t losses, lost_events,
		lost_packets; /* times of which events were lost, however that is known; lost_*: at least */
	/*
	 * Executions of compact detail that were over more than a second after they became ready, as where a
	 * service was stopped: how long they waited is known, but not who held the lanes.
	 */
	uint64_t late_summaries;
	uint64_t received_ns, entitled_ns; /* once it is finished: of all apps */
	uint64_t late, late_ns;            /* records that came too late, and the most that was by */
	uint64_t overwritten, broken; /* tracefiles that were written anew before they were read; that made no sense */
	uint64_t impostors;           /* events of users that these cannot know of */
	uint64_t counted_p50_ns,
		/* how long after its last event an execution was counted: BSA_LIVE_UNKNOWN: not one was */
		counted_p99_ns;
	uint64_t gaps; /* times it began anew */
	uint64_t bytes;
	size_t streams;
	unsigned lanes, services; /* lanes of the services heard last, and the number of those */
	bool exact;
	const char *why; /* why the sums are not exact. Static */
};

struct bsa_live_state bsa_live_state(const struct bsa_live *l);

/* "session NAME of host HOST" for one at a relay that has answered, or "". Ends with 0. */
void bsa_live_name(const struct bsa_live *l, char *ret, size_t size);

/*
 * All rows of the last seconds or, if @all, of the whole time, in no order: into @ret, or of more than @max
 * those that were seen last. Returns how many they are.
 */
size_t bsa_live_rows(const struct bsa_live *l, bool all, struct bsa_live_row *ret, size_t max);

/* The time of the first record, on the clock of the trace. BSA_LIVE_UNKNOWN: no record was taken yet. */
uint64_t bsa_live_began(const struct bsa_live *l);

/*
 * The lane time that @app_id received and was entitled to, over all time, after the end. False: the app never
 * waited for a lane.
 */
bool bsa_live_share(const struct bsa_live *l, uint32_t app_id, uint64_t *ret_received, uint64_t *ret_entitled);

/* As in relation miss_cause: "crowded_out". Borrowed for good. NULL if no cause has that number. */
const char *bsa_live_cause(unsigned cause);

/* As in relation execution_phase: "queue". Borrowed for good. NULL if no phase has that number. */
const char *bsa_live_phase(unsigned phase);

#endif
