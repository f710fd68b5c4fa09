/*
 * world.h -- the existing objects: services, apps and their processes, connections, models, streams, mappings, buffers.
 *
 * An entry exists from the first event that reports or mentions the object until its end; streams and models
 * a little longer (PARTING_NS), for late events of executions. So memory is bounded by the number of open
 * objects. Each object is reported as a fact when it appears and when more is known of it; a repeated event
 * changes nothing.
 *
 * Functions that create an entry return NULL without memory; the fold has failed then.
 */
#ifndef BSA_FOLD_WORLD_H
#define BSA_FOLD_WORLD_H

#include "base/table.h"
#include "fold/facts.h"
#include "fold/list.h"

struct bsa_fold;
struct bsa_exec;

/* Sides of an execution that events came from. Bits. */
enum { BSA_HEARD_CLIENT = 1, BSA_HEARD_SERVICE = 2 };

/* A list of objects, the oldest member first; and an object's place in such a list. */
struct bsa_line {
	struct bsa_link list;
	uint32_t n;
};
struct bsa_place {
	struct bsa_link link;
	struct bsa_line *line;
};

struct bsa_service {
	struct bsa_entry entry; /* instance */
	struct bsa_rules rules;
	uint32_t pid;
	bool listing;             /* the service is emitting what was under way when the recording began */
	bool tells_ready;         /* it emits sched_ready, and takes lanes away from threads that sleep */
	struct bsa_service *next; /* next in the list of all services */
};

struct bsa_app_known {
	struct bsa_entry entry; /* instance << 32 | key */
	struct bsa_app fact;
	uint32_t connections;
	struct bsa_place idle;
};

/* Exists while it has connections. */
struct bsa_process_known {
	/* of the instance, pid, uid and name: a forger of events may give one pid any number of names */
	struct bsa_entry entry;
	struct bsa_process fact;
	uint32_t instance, uid, connections;
};

struct bsa_connection {
	struct bsa_entry entry;
	struct bsa_app_known *app;         /* NULL: unknown */
	struct bsa_process_known *process; /* NULL: unknown */
	uint32_t streams;                  /* number of streams that refer to it, and keep it */
	uint8_t heard;
	bool told, gone;
	struct bsa_place place; /* in the list `connected` */
};

struct bsa_model_known {
	struct bsa_entry entry;
	struct bsa_model fact;
	struct bsa_place place; /* in untold_models or parting_models */
	bool told;
};

/* The sequence numbers that are over: all up to @below, and of the next ones those with a set bit. */
struct bsa_over {
	uint64_t few, *many; /* bits of 64 numbers; *many (owned): of more, if not NULL */
	uint32_t below;
};

struct bsa_stream_known {
	struct bsa_entry entry;
	struct bsa_stream fact;
	struct bsa_connection *connection; /* NULL: unknown */
	struct bsa_link execs;             /* executions under way, in the order of their first events */
	struct bsa_link mappings;
	struct bsa_place place; /* in untold or parting */
	struct bsa_over over;
	uint32_t n_execs, newest; /* newest: the highest sequence number so far */
	uint32_t model;           /* the service's number */
	uint32_t app_key;         /* the service's key of fact.app */
	uint64_t answered;        /* time at which the first answer was written that is not known to be read; 0: none */
	uint64_t newest_at;       /* time of newest's first event; before that: when the stream was opened */
	uint64_t skipped_at;      /* like newest_at, for the number before the first skipped one */
	uint32_t n_skipped;       /* numbers without any event although a later one has events */
	uint64_t client_at;       /* time of the client's latest event; 0 before its first event */
	uint64_t n_no_more;       /* executions counted as no_more since then */
	uint64_t quiet_since;     /* all executions before the oldest one under way were over at this time */
	uint8_t heard;
	bool told, closed;
	bool configured; /* its burst_configure was reported; the service repeats it with its state */
	bool unnamed;    /* not reported: too many streams have an execution of one event, and nothing else */
	bool left;       /* the stream is freed with its last execution */
	bool replaced;   /* replaced by another stream of that number, and in no table */
	bool renumbered; /* the stream replaced another one, whose executions may be under way with its numbers */
};

struct bsa_mapping_open {
	struct bsa_entry entry;
	struct bsa_mapping fact;
	struct bsa_link of_stream;
};

struct bsa_buffer_known {
	struct bsa_entry entry;
	struct bsa_buffer fact;
};

struct bsa_world {
	struct bsa_table services, apps, processes, connections, models, streams, mappings, buffers;
	struct bsa_service *all_services;
	struct bsa_line idle;                    /* apps without connections */
	struct bsa_line untold, untold_models;   /* mentioned, but never reported */
	struct bsa_line parting, parting_models; /* end reported, kept for late events */
	struct bsa_line open, open_models;       /* begin reported, end not */
	struct bsa_line connected;               /* connections */
	uint32_t n_many;                         /* streams with over.many */
	uint64_t n_found, n_named;               /* executions; streams that were reported because of them */
};

/* 0 or -ENOMEM; call fini in both cases. */
int bsa_world_init(struct bsa_world *w);
void bsa_world_fini(struct bsa_world *w);

/* ---- events (world.c) ---- */

void bsa_on_service_state(struct bsa_fold *f, const struct bsa_service_state *e);
/* An execution of service @instance begins: so the service has emitted all that were under way before. */
void bsa_service_begins(struct bsa_fold *f, uint16_t instance);

void bsa_on_client_connect(struct bsa_fold *f, const struct bsa_client_connect *e);
void bsa_on_client_disconnect(struct bsa_fold *f, const struct bsa_client_disconnect *e);
void bsa_on_model_prepare(struct bsa_fold *f, const struct bsa_model_prepare *e);
void bsa_on_model_release(struct bsa_fold *f, const struct bsa_model_release *e);
void bsa_on_stream_open(struct bsa_fold *f, const struct bsa_stream_open *e);
void bsa_on_stream_close(struct bsa_fold *f, const struct bsa_stream_close *e);
void bsa_on_app_span(struct bsa_fold *f, const struct bsa_app_span *e);

/* ---- events (pools.c) ---- */

void bsa_on_pool_map(struct bsa_fold *f, const struct bsa_pool_map *e);
void bsa_on_pool_unmap(struct bsa_fold *f, const struct bsa_pool_unmap *e);
void bsa_on_buffer_allocate(struct bsa_fold *f, const struct bsa_buffer_allocate *e);
void bsa_on_buffer_copy(struct bsa_fold *f, const struct bsa_buffer_copy *e);
void bsa_on_buffer_reject(struct bsa_fold *f, const struct bsa_buffer_reject *e);
void bsa_on_buffer_free(struct bsa_fold *f, const struct bsa_buffer_free *e);
void bsa_on_resource_exhausted(struct bsa_fold *f, const struct bsa_resource_exhausted *e);

/* Report the mappings and buffers that are still open. */
void bsa_pools_finish(struct bsa_fold *f);
void bsa_mapping_end(struct bsa_fold *f, struct bsa_mapping_open *m, uint64_t at, uint8_t cause);

/* ---- for executions ---- */

/* The object with that number, which is created as unreported if it is unknown. */
struct bsa_stream_known *bsa_stream_of(struct bsa_fold *f, uint32_t number);
/* The same for a new execution. A stream that is unknown may stay unnamed. */
struct bsa_stream_known *bsa_stream_of_execution(struct bsa_fold *f, uint32_t number);
/* Report @s, if it is unnamed. */
void bsa_stream_name(struct bsa_fold *f, struct bsa_stream_known *s);
struct bsa_model_known *bsa_model_of(struct bsa_fold *f, uint32_t number);
struct bsa_app_known *bsa_app_of(struct bsa_fold *f, uint16_t instance, uint32_t key);

/* An event reports that executions of @s belong to @app. */
void bsa_stream_is_of(struct bsa_stream_known *s, struct bsa_app_known *app);

/* Whether its executions do not overlap. Calls may overlap: several threads may make them, each waiting for its own. */
static inline bool bsa_stream_is_serial(const struct bsa_stream_known *s)
{
	return s->fact.path == BSA_PATH_BURST;
}

bool bsa_stream_had(const struct bsa_stream_known *s, uint32_t seq);
void bsa_stream_over(struct bsa_fold *f, struct bsa_stream_known *s, uint32_t seq);

/* An execution of @s is freed: perhaps the stream is, too. @quietly: without reporting a fact. */
void bsa_stream_lost_one(struct bsa_fold *f, struct bsa_stream_known *s, bool quietly);

/* Free parting objects whose time is over. */
void bsa_world_advance(struct bsa_fold *f);

/*
 * If only summaries were recorded, executions without any event may be under way at the end: a lower bound of
 * the begin of the first one. BSA_NEVER: no such execution is possible.
 */
uint64_t bsa_streams_under_way_after(const struct bsa_fold *f);

/* Report the executions without any event that may have existed in the open streams. */
void bsa_streams_hidden(struct bsa_fold *f);

/* Report the final facts of streams. */
void bsa_world_finish(struct bsa_fold *f);

#endif
