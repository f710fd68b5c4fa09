/*
 * sink.h -- the form of a database in a trace viewer: tracks, and slices, instants and counters on
 * them. The readers of the database call a sink; perfetto.c and chrome.c write it.
 *
 * ORDER    Events of one struct bsv_sequence arrive in the order of their times; different
 *          sequences are independent. Slices of a track nest: a slice that begins later ends
 *          earlier. At one time, the first event happens first.
 * TIMES    are those of the database, until the sink writes them.
 * TRUST    Texts are untrusted. A sink escapes them.
 */
#ifndef BSV_SINK_H
#define BSV_SINK_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum bsv_category {
	BSV_CAT_EXECUTION,
	BSV_CAT_PHASE,
	BSV_CAT_WAIT,
	BSV_CAT_LANE,
	BSV_CAT_HOLDER,
	BSV_CAT_DEADLINE,
	BSV_CAT_MISS,
	BSV_CAT_LOSS,
	BSV_CAT_HOLE,
	BSV_CATEGORIES
};

extern const char *const bsv_category_names[BSV_CATEGORIES];

/*
 * @key is a number of @text, from BSV_KEYS on, that no other text has; 0: one of few texts, that
 * are written again and again.
 */
struct bsv_sink_text {
	const char *text;
	uint32_t key;
};

enum { BSV_KEYS = 1024, BSV_ARGS_MOST = 48 };

struct bsv_sink_arg {
	const char *name; /* a literal, or one of few */
	bool is_text;
	int64_t value;
	struct bsv_sink_text text;
};

struct bsv_args {
	size_t n;
	struct bsv_sink_arg args[BSV_ARGS_MOST];
};

/* A sequence of events in the order of their times. The caller sets it to 0; then it belongs to the sink. */
struct bsv_sequence {
	uint32_t id;      /* 0: there was no event yet */
	uint64_t track;   /* the track of most of its events; 0: no track */
	bool any_order;   /* its events arrive in any order */
	int64_t last;     /* the last time written */
	uint64_t seen[4]; /* a set of bits for the first 256 few texts */
	uint32_t key[2];  /* the last keys written of a name, and of an argument */
	uint8_t *keys[2]; /* borrowed; a bit for each key already written, instead of the last one; NULL: none */
};

enum bsv_track_kind { BSV_TRACK_GROUP, BSV_TRACK_SLICES, BSV_TRACK_COUNT, BSV_TRACK_NS };

struct bsv_track {
	uint64_t id, parent; /* from 1; parent 0: no parent */
	uint64_t process;    /* the topmost track above it, or itself */
	enum bsv_track_kind kind;
	int64_t pid; /* the process that has this track; 0: no process */
	const char *name;
};

struct bsv_sink_event {
	uint64_t track, process; /* as in struct bsv_track */
	int64_t at, until;       /* until: where a slice ends */
	struct bsv_sink_text name;
	unsigned categories; /* bits, 1 << enum bsv_category */
	const struct bsv_args *args;
	uint64_t flow;                /* 0: not in a flow */
	bool flow_goes_on, flow_ends; /* both false: the flow begins */
	int64_t value;                /* the counter's value; its name is @name */
	/* n_more counters that have values at this time, too: of a slice that ends, at its end */
	const uint64_t *more_tracks;
	const int64_t *more_values;
	const char *const *more_names;
	size_t n_more;
};

/* The clocks of all that is written: a time less @offset is CLOCK_MONOTONIC, if all of it was recorded on one host. */
struct bsv_clocks {
	int64_t began;  /* nothing was before, or little */
	int64_t offset; /* 0 if there are several hosts */
	bool one_host, boottime_known;
	int64_t boottime; /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
	const char *uuid; /* the recording's uuid */
};

struct bsv_sink {
	void (*track)(struct bsv_sink *s, const struct bsv_track *track);
	void (*begin)(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e);
	void (*end)(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e);
	void (*instant)(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e);
	void (*counter)(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e);
	int (*finish)(struct bsv_sink *s, struct bsa_err *err); /* 0, or negative: it could not be written */
	void (*free)(struct bsv_sink *s);
	bool failed; /* nothing more can be written: the caller may stop */
};

/* @to is borrowed. NULL: no memory. Owned by the caller. */
struct bsv_sink *bsv_perfetto_new(FILE *to, const struct bsv_clocks *clocks, bool compress);
struct bsv_sink *bsv_chrome_new(FILE *to, const struct bsv_clocks *clocks);

static inline void bsv_arg_int(struct bsv_args *a, const char *name, int64_t value)
{
	if (a->n < BSV_ARGS_MOST)
		a->args[a->n++] = (struct bsv_sink_arg){ .name = name, .value = value };
}

/* NULL is no argument. */
static inline void bsv_arg_text(struct bsv_args *a, const char *name, const char *text, uint32_t key)
{
	if (text && a->n < BSV_ARGS_MOST)
		a->args[a->n++] = (struct bsv_sink_arg){ .name = name, .is_text = true, .text = { text, key } };
}

#endif
