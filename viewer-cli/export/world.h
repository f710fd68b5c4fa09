/*
 * world.h -- the apps, models, processes, streams and services of an exported database, and the track of each.
 *
 * MEMORY  grows with the number of apps, models, processes and streams, and not with the number of executions.
 */
#ifndef BSV_WORLD_H
#define BSV_WORLD_H

#include "export/sink.h"
#include "input/input.h"

enum bsv_detail_of_export { BSV_EXPORT_LANES, BSV_EXPORT_EXECUTIONS, BSV_EXPORT_ALL };

/* Names for people, by id. */
struct bsv_named {
	int64_t *ids;
	char **names;
	size_t n;
};

/* Slices that overlap, side by side: each row has a track. */
struct bsv_row {
	int64_t ends;
	struct bsv_sequence sequence;
};

struct bsv_side_by_side {
	struct bsv_row *rows;
	size_t n, room;
};

/* The owner of streams: a process, an app, or unknown. Tracks are 0 until they are needed. */
struct bsv_owner {
	int64_t id, pid; /* pid 0: none, or not one that a trace of the system would have */
	int64_t app;
	size_t process; /* the place of an app's first process, from 1 */
	uint64_t track, deadlines, lag;
};

struct bsv_stream_of {
	int64_t id, number;
	struct bsv_owner *owner;
	size_t service;
	char path[8];
	struct bsv_side_by_side rows;
};

enum { BSV_LANES_SHOWN = 256 }; /* limit for one service; lanes beyond it share the last one's track */

struct bsv_service_of {
	int64_t trace, instance;
	uint64_t track, queue, busy;
	uint64_t lanes[BSV_LANES_SHOWN];
	int64_t queued, held;
};

struct bsv_world {
	struct bsv_input *input;
	struct bsv_sink *sink;
	struct bsv_clocks clocks;
	int64_t ended;
	struct bsv_named apps, models;
	struct bsv_owner *processes, *owners; /* owners: by app, then one for unknown apps */
	struct bsv_stream_of *streams;
	struct bsv_service_of *services;
	size_t n_processes, n_streams, n_services;
	struct bsv_side_by_side streamless; /* executions of no stream that is known */
	uint64_t tracks;                    /* that there are */
	struct bsv_sequence beside;         /* in any order */
	char uuid[64];
	bool no_memory;
};

/* Reads who there is. @w is all 0; it is to be given to bsv_world_fini whatever is returned. */
int bsv_world_read(struct bsv_world *w, struct bsv_input *input, struct bsa_err *err);
void bsv_world_fini(struct bsv_world *w);

/* A track that is announced to the sink; its id. @parent 0: none. @process 0: itself. */
uint64_t bsv_world_track(struct bsv_world *w, enum bsv_track_kind kind, uint64_t parent, uint64_t process, int64_t pid,
                         const char *name);

/* NULL: of none that is known. */
struct bsv_stream_of *bsv_world_stream(struct bsv_world *w, int64_t id);

/* The owner of what @app does if its process is unknown. Never NULL. */
struct bsv_owner *bsv_world_app(struct bsv_world *w, int64_t app);

/* The app's first process, or the app. Never NULL. */
struct bsv_owner *bsv_world_shown(struct bsv_world *w, int64_t app);

uint64_t bsv_owner_track(struct bsv_world *w, struct bsv_owner *o);
uint64_t bsv_service_track(struct bsv_world *w, struct bsv_service_of *s);
uint64_t bsv_service_lane(struct bsv_world *w, struct bsv_service_of *s, int64_t lane);

/* The name of an app or a model, with a key. Its text is NULL if there is none. */
struct bsv_sink_text bsv_named_text(const struct bsv_named *named, int64_t id);

/* A row with nothing in it from @began on; @name is that of its track, should it be new. NULL: no memory. */
struct bsv_row *bsv_row_for(struct bsv_world *w, struct bsv_side_by_side *rows, int64_t began, int64_t ended,
                            uint64_t parent, uint64_t process, const char *name);

/* ---- what is told of it: each 0, or negative ---- */

int bsv_draw_lanes(struct bsv_world *w, enum bsv_detail_of_export detail, struct bsa_err *err);
int bsv_draw_executions(struct bsv_world *w, enum bsv_detail_of_export detail, struct bsa_err *err);
int bsv_draw_beside(struct bsv_world *w, enum bsv_detail_of_export detail, struct bsa_err *err);

#endif
