/*
 * decode.h -- traces in, records of fold/event.h out, in the order of their time.
 *
 * The only door between the analyzer and whatever reads traces: today libbabeltrace2, in as many graphs and
 * threads as pay. Nothing of it shows here. A second decoder answers to the same calls.
 *
 * One thread calls. bsa_decode_stop may come from any thread, or a signal handler.
 */
#ifndef BSA_DECODE_DECODE_H
#define BSA_DECODE_DECODE_H

#include "bsa/err.h"
#include "fold/event.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The app and the processes that a recording was limited to. All 0: it was not limited. */
struct bsa_scoped {
	char app[64]; /* name or uid; "": any */
	uint32_t pid, service;
};

/* A trace, by its own metadata. All strings are borrowed until the decoder is freed, and never NULL: "" is unknown. */
struct bsa_trace {
	const char *path;       /* its directory: the first, of a trace that has several */
	const char *uuid;       /* 36 characters, lower case */
	const char *host;       /* the host that recorded it */
	const char *session;    /* LTTng's */
	const char *clock;      /* its clock's name */
	const char *clock_uuid; /* traces of one clock (one boot) may be folded together */
	int64_t clock_offset;   /* added to raw time makes ns since 1970; one for all traces of one clock */
	unsigned clock_group;   /* traces of the same clock and host have the same, from 0 */
	bool compact;           /* exec_service or exec_client are among its event classes */
	uint64_t declared;      /* 1 << kind: its event classes, if these are all that were enabled; 0: unknown */
	uint64_t bytes;         /* bytes of its streams */
	bool boottime_known;    /* the recorder wrote down the lead of CLOCK_BOOTTIME over the trace's clock */
	int64_t boottime;       /* the difference, ns */
	struct bsa_scoped scope;
	/*
	 * when its recorder ended the recording, raw; the programs were stopped after that, one after the
	 * other. 0: unknown
	 */
	uint64_t until;
	/*
	 * raw: all processes were recorded until recorded_until, at least, and no longer than over_by. 0: unknown;
	 * over_by also if recorded_until is known
	 */
	uint64_t recorded_until, over_by;
	uint32_t uid;    /* user of all processes in the trace, from LTTng's metadata; UINT32_MAX: unknown */
	bool unreadable; /* nothing of it is read: what its user has written cannot be */
};

/* Counts of what was read so far. For a trace: exact once everything has been read. */
struct bsa_decoded {
	uint64_t events;  /* all, ours or not */
	uint64_t foreign; /* events of other providers, or with names that the catalogue does not know */
	/*
	 * Events of ours that were repaired or dropped:
	 * - A required field is missing, or is not a number: dropped.
	 * - The time is earlier than that of the event before: emitted with that time.
	 * - The time is beyond 2^63 ns: dropped.
	 * - The time is later than the end of the packet: this event and the rest of the packet are dropped, and a loss
	 *   is emitted in their place.
	 */
	uint64_t unusable;
	uint64_t unknown_fields; /* fields of ours that the catalogue does not know: of event classes, not of events */
	uint64_t lost_events, lost_packets; /* at least */
	uint64_t began, ended;              /* raw time of the first and the last event; BSA_NEVER: no event */
	uint64_t repeated, doubtful;        /* packets that were left out: there already; in contradiction to others */
	bool from_start; /* no packet was overwritten, or is in another directory, before the first of each stream */
	uint64_t wrong_indices; /* number of index files that contradict their stream files, and were ignored */
	bool cut;               /* a packet is not whole, or cannot be read: what was before it has been read */
};

/* The decoder. The quick one reads traces as LTTng and babeltrace2 write them, if nothing in them is out of order. */
enum bsa_decoder {
	BSA_DECODER_AUTO, /* each trace the quick one if it can, or else babeltrace2: all answer the same */
	BSA_DECODER_BABELTRACE2,
	BSA_DECODER_QUICK /* BSA_E_INPUT for traces that it cannot read */
};

struct bsa_decode_options {
	unsigned threads; /* 0: as many as pay */
	enum bsa_decoder decoder;
	const atomic_bool *stop; /* if set, by a signal handler: bsa_decode_open returns BSA_E_STOPPED. May be NULL */
	bool may_be_foreign;     /* that no trace has an event class of ours is no error: then there are no records */
};

struct bsa_decode;

/*
 * Look below each of @paths for traces, and open them. Traces without an event class of ours are not read, and have
 * no number. All in one clock group come as one sequence of records; groups come one after the other. 0 and *ret
 * owned by the caller. BSA_E_INPUT: nothing there, or a path that is no trace, or unreadable metadata; BSA_E_ENV;
 * BSA_E_STOPPED: *ret untouched.
 */
int bsa_decode_open(struct bsa_decode **ret, const char *const *paths, size_t n_paths,
                    const struct bsa_decode_options *options, struct bsa_err *err);

/* NULL is fine. Stops its threads and waits for them. Returns NULL. */
struct bsa_decode *bsa_decode_free(struct bsa_decode *d);

/*
 * Trace number @i, from 0; records of it carry trace = @i + 1. NULL: no more traces. Borrowed until the
 * decoder is freed.
 */
const struct bsa_trace *bsa_decode_trace(const struct bsa_decode *d, size_t i);
struct bsa_decoded bsa_decode_decoded(const struct bsa_decode *d, size_t i);

/*
 * The next record of all, borrowed until the next call. 1: there is one; 0: that was all; negative: *ret untouched.
 * A trace whose last packets are cut ends where it is cut, without an error, and is marked.
 */
int bsa_decode_next(struct bsa_decode *d, const struct bsa_event **ret, struct bsa_err *err);

/* Bytes of streams read so far, and in all, to show progress. */
void bsa_decode_progress(const struct bsa_decode *d, uint64_t *ret_done, uint64_t *ret_all);

/* Soon after this call, bsa_decode_next returns BSA_E_STOPPED. Async-signal-safe. */
void bsa_decode_stop(struct bsa_decode *d);

#endif
