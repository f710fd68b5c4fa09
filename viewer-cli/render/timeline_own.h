/* timeline_own.h -- the state of a timeline (timeline.h): timeline.c adds it up, timeline_draw.c draws it. */
#ifndef BSV_RENDER_TIMELINE_OWN_H
#define BSV_RENDER_TIMELINE_OWN_H

#include "base/map.h"
#include "render/cells.h"
#include "render/timeline.h"

enum {
	BSV_LANES_MOST = 32, /* rows of lanes */
	BSV_CPUS_MOST = 32,  /* rows of cpus */
	BSV_WHO_MOST = 4096, /* apps, and those that wait, that are distinguished at all */
};

#define BSV_UNKNOWN_WHO UINT32_MAX

/*
 * Those that are distinguished: a number each, as they come; of too many the later ones share the
 * last number, and have no id.
 */
struct bsv_folk {
	struct bsv_map numbers; /* by id: its number + 1 */
	int64_t *ids;
	size_t n;
	bool many;
};

struct bsv_lane {
	int64_t service, lane;
	struct bsv_cover *covers;
	int64_t told; /* latest end of a stretch */
};

struct bsv_cpu {
	int64_t cpu;
	struct bsv_cover *busy, *idle;
};

typedef unsigned __int128 bsv_sum;

/* A waiting execution: for each cell, the parts for which it waited. */
struct bsv_waiting {
	bsv_sum *cells, all;
};

struct bsv_timeline {
	struct bsv_span span;
	int width, label;
	int64_t began, ended;
	struct bsv_folk apps, waiting_ones;
	struct bsv_lane lanes[BSV_LANES_MOST];
	size_t n_lanes, more_lanes;
	struct bsv_cpu cpus[BSV_CPUS_MOST];
	size_t n_cpus, more_cpus;
	struct bsv_map held; /* by cell and app: the parts for which the app held the lane */
	struct bsv_waiting *waiting;
	uint64_t *marks[BSV_MARKS], counts[BSV_MARKS]; /* for each cell */
	struct bsv_cover *lost;
	struct bsv_cover *states[BSV_STATES];
	char *focus;
	uint64_t losses;
	bool failed;
};

#endif
