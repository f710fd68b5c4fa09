/* driver_times.h -- the figures and requests between bench_models and the driver of driver_times.c. */
#ifndef DRIVER_TIMES_H
#define DRIVER_TIMES_H

#include <stdint.h>

enum { TIMES_OPS = 128 };

enum times_mode {
	TIMES_OFF,  /* the driver as it is */
	TIMES_BARE, /* behind the last operation of a run, all once more in a bare loop: bare_ns */
	TIMES_EACH  /* each operation of XNNPACK's by itself, and by the plain kernel: xnnpack_ns, kernel_ns */
};

struct times {
	enum times_mode mode;
	uint64_t bare_ns;
	uint64_t operations;           /* operations of the last run */
	uint64_t by_kernel[TIMES_OPS]; /* those that are not XNNPACK's, by operation */
	/* by operation: summed up */
	uint64_t xnnpack_ns[TIMES_OPS], kernel_ns[TIMES_OPS], runs[TIMES_OPS];
};

#endif
