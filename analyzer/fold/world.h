/*
 * world.h -- who is there: services, apps and their processes, connections, models, streams, mappings, buffers.
 *
 * An entry is there from when it is told of, or referred to, until its end is; streams and models a little longer
 * (PARTING_NS), for events of executions that come after it. So memory is bounded by what is open. Each is told as a fact
 * when it appears and when more is known of it; to be told of it again changes nothing.
 *
 * What is created here needs memory: without it the fold has failed, and NULL is returned.
 */
#ifndef BSA_FOLD_WORLD_H
#define BSA_FOLD_WORLD_H

#include "fold/facts.h"
#include "fold/list.h"
#include "fold/table.h"

struct bsa_fold;
struct bsa_exec;

/* Sides of an execution, as bits: who has been heard. */
enum { BSA_HEARD_CLIENT = 1, BSA_HEARD_SERVICE = 2 };

/* Where something is in a line, if it is in one: the longest first. */
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
	bool finding;             /* it tells of what was under way when the recording began */
	struct bsa_service *next; /* of all */
};

struct bsa_app_known {
	struct bsa_entry entry; /* instance << 32 | key */
	struct bsa_app fact;
	uint32_t connections;
	struct bsa_place idle;
};

/* There while it has connections. */
struct bsa_process_known {
	struct bsa_entry entry; /* instance << 32 | pid */
	struct bsa_process fact;
	uint32_t uid, connections;
};

struct bsa_connection {
	struct bsa_entry entry;
	struct bsa_app_known *app;         /* NULL: unknown */
	struct bsa_process_known *process; /* NULL: unknown */
	uint32_t streams;                  /* that refer to it: it is there as long */
	uint8_t heard;
	bool told, gone;
	struct bsa_place place; /* connected */
};

struct bsa_model_known {
	struct bsa_entry entry;
	struct bsa_model fact;
	struct bsa_place place; /* untold, or parting */
	bool told;
};

/* Which sequence numbers are over: all up to @below, and of the next ones those whose bits are set. */
struct bsa_over {
	uint64_t few, *many; /* 64, or if many is there (owned) more */
	uint32_t below;
};

struct bsa_stream_known {
	struct bsa_entry entry;
	struct bsa_stream fact;
	struct bsa_connection *connection; /* NULL: unknown */
	struct bsa_link execs;             /* under way, in the order in which they were first seen */
	struct bsa_link mappings;
	struct bsa_place place; /* untold, or parting */
	struct bsa_over over;
	uint32_t n_execs, newest; /* newest: the highest sequence number there was */
	uint32_t model;           /* as the service numbers it */
	uint32_t app_key;         /* of fact.app, likewise */
	uint64_t answered;        /* when a first answer was written that nobody is known to have taken; 0: none was */
	uint64_t newest_at;       /* when newest was first seen; before: when it was opened */
	uint64_t skipped_at;      /* the same of the one before the first number that was skipped */
	uint32_t n_skipped;       /* numbers of which no execution was seen, though a later one was */
	uint64_t quiet_since;     /* what came before the oldest execution under way was over then */
	uint8_t heard;
	bool told, closed;
	bool left;     /* it goes with its last execution */
	bool replaced; /* and is in no table */
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
	struct bsa_line untold, untold_models;   /* those that nobody told of */
	struct bsa_line parting, parting_models; /* those whose end was told */
	struct bsa_line open, open_models;       /* those whose beginning was told, and whose end was not */
	struct bsa_line connected;               /* connections */
	uint32_t n_many;                         /* streams with over.many */
};

/* 0 or -ENOMEM; then, too, fini. */
int bsa_world_init(struct bsa_world *w);
void bsa_world_fini(struct bsa_world *w);

/* ---- events (world.c) ---- */

void bsa_on_service_state(struct bsa_fold *f, const struct bsa_service_state *e);
/* A new execution of service @instance begins: by now it has told of those that were under way before. */
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

/* Tell of the mappings and buffers that are open, as such. */
void bsa_pools_finish(struct bsa_fold *f);
void bsa_mapping_end(struct bsa_fold *f, struct bsa_mapping_open *m, uint64_t at, uint8_t cause);

/* ---- for executions ---- */

/* As it is known, or as nobody told of it. */
struct bsa_stream_known *bsa_stream_of(struct bsa_fold *f, uint32_t number);
struct bsa_model_known *bsa_model_of(struct bsa_fold *f, uint32_t number);
struct bsa_app_known *bsa_app_of(struct bsa_fold *f, uint16_t instance, uint32_t key);

/* Somebody says that executions of @s are of this app. */
void bsa_stream_is_of(struct bsa_stream_known *s, struct bsa_app_known *app);

/* Executions of it come one after the other. Calls do not: several threads may make them, each waiting for its own. */
static inline bool bsa_stream_is_serial(const struct bsa_stream_known *s)
{
	return s->fact.path == BSA_PATH_BURST;
}

bool bsa_stream_had(const struct bsa_stream_known *s, uint32_t seq);
void bsa_stream_over(struct bsa_fold *f, struct bsa_stream_known *s, uint32_t seq);

/* An execution of it is gone: so may be the stream. @quietly: nothing is told. */
void bsa_stream_lost_one(struct bsa_fold *f, struct bsa_stream_known *s, bool quietly);

/* Of what is parting, that whose time has come. */
void bsa_world_advance(struct bsa_fold *f);

/*
 * Where only summaries were recorded, executions may be under way at the end of which no event tells: the first of them began no
 * earlier. BSA_NEVER: there are none.
 */
uint64_t bsa_streams_under_way_after(const struct bsa_fold *f);

/* Tell what executions there may have been, in the streams that are open, of which nothing was recorded. */
void bsa_streams_hidden(struct bsa_fold *f);

/* Tell of streams what is known in the end. */
void bsa_world_finish(struct bsa_fold *f);

#endif
