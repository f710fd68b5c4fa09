/*
 * scenario.h -- scenario files: which apps run what, how often, and by which path. nnburst-scenario(5).
 */
#ifndef LOAD_SCENARIO_H
#define LOAD_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/model.h"
#include "nnb/status.h"
#include "zoo.h"

enum {
	LOAD_NAME = NNB_NAME_MAX, /* bytes of a name, the last one zero */
	LOAD_ABOUT = 240,
	LOAD_MODEL = 1024, /* bytes of a model's name or file */
	LOAD_APPS_MAX = 64,
	LOAD_STREAMS_MAX = 64, /* streams of an app */
	LOAD_THREADS_MAX = 64, /* threads of an app, over all of its streams */
	LOAD_POOLS_MAX = 64
};

#define LOAD_DURATION_MAX (3600 * 1000000000ull)

enum load_path { LOAD_BURST, LOAD_SYNC, LOAD_ASYNC, LOAD_FENCED };
extern const char *const load_path_names[4];
extern const char *const load_priority_names[3];
extern const char *const load_hal_names[4];

/* Where a recurrent model's state is between two executions. NOWHERE: it gets the same inputs each time. */
enum load_keeping { LOAD_NOWHERE, LOAD_IN_POOLS, LOAD_ON_DEVICE };
extern const char *const load_keeping_names[3];

struct load_stream {
	char name[LOAD_NAME];
	char model[LOAD_MODEL]; /* name of a model of the zoo; with a slash, or ending in .json or .tflite: a file */
	uint32_t priority;      /* 0 low, 1 medium, 2 high */
	uint32_t path;          /* enum load_path */
	int64_t threads;
	uint64_t period_ns; /* 0: a closed loop */
	uint64_t think_ns, jitter_ns;
	uint64_t deadline_ns; /* 0: no deadline */
	bool told;            /* the service gets the deadline */
	uint64_t prepare_deadline_ns;
	int64_t retries; /* largest number of retries of a frame */
	uint64_t retry_after_ns;
	uint64_t start_ns;
	int64_t burst_length; /* executions; 0: no end */
	int64_t pools;
	int64_t fresh_pools; /* every so many executions; 0: never */
	uint64_t window_ns;  /* NNB_FMQ_WINDOW_* */
	uint32_t state;      /* enum load_keeping */
	struct load_pairs state_pairs;
	bool measure;
};

struct load_app {
	char name[LOAD_NAME];
	int64_t uid; /* -1: ours */
	int64_t nice;
	uint32_t hal; /* from NNB_HAL_1_0 */
	struct load_stream *streams;
	uint32_t n_streams;
	uint32_t n_threads; /* threads of all streams */
};

struct load_scenario {
	char name[LOAD_NAME];
	char about[LOAD_ABOUT];
	char dir[LOAD_MODEL]; /* directory to which models' files are relative */
	int64_t seed;
	uint64_t duration_ns;
	int64_t executions; /* executions of each stream; 0: limited by time only */
	uint64_t timeout_ns;
	struct load_app *apps;
	uint32_t n_apps;
};

/*
 * Read a scenario. 0 and *ret owned; -EINVAL: it is wrong, and @reason names the place in it; -ENOMEM. @name is the
 * scenario's unless it has one of its own, @dir where files are looked for.
 */
int load_scenario_parse(struct load_scenario **ret, const char *text, size_t bytes, const char *name, const char *dir,
                        struct nnb_reason *reason);

/* The same from a file; also -errno: it cannot be read. @ret_text: the text (free) of *ret_bytes, or NULL. */
int load_scenario_read(struct load_scenario **ret, const char *path, char **ret_text, size_t *ret_bytes,
                       struct nnb_reason *reason);

struct load_scenario *load_scenario_free(struct load_scenario *scenario); /* NULL is fine. Returns NULL. */
static inline void load_scenario_freep(struct load_scenario **scenario)
{
	*scenario = load_scenario_free(*scenario);
}

/* Is @model the path of a file, rather than a name of the zoo? */
bool load_is_file(const char *model);

/* Is that file one of TensorFlow Lite's, rather than of nnb_model(5)? */
bool load_is_tflite(const char *model);

/*
 * Every key there is, for the test of the manual: @i from 0, NULL in the end.
 */
const char *load_scenario_key(size_t i);

#endif
