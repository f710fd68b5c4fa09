/* looks.h -- the report of driver_looks.c on the last operation that it ran. */
#ifndef LOOKS_H
#define LOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct looks {
	uint64_t took_ns; /* cpu time of the run without looks */
	uint64_t looks;   /* the number of looks of the run with looks */
	/* the same run: the longest cpu time between two looks, before the first, or after the last */
	uint64_t longest_ns;
	bool same;       /* the same run gave the same bits */
	bool ended;      /* the run that is ended at the first look ended, and did not look again */
	uint64_t end_ns; /* the same run: as longest_ns */
	bool xnnpack, tiles_ours;
	uint64_t digest;  /* digest of the output */
	uint64_t cost_ns; /* the driver's estimate of the operation's time */
};

#endif
