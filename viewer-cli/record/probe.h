/* probe.h -- measures how much a running workload writes, by a short recording that is deleted again. */
#ifndef BSV_PROBE_H
#define BSV_PROBE_H

#include "record/session.h"

/* All 0: nothing was probed. */
struct bsv_probed {
	char directory[PATH_MAX];
	const struct bsv_lttng *lttng;
	struct lttng_destruction_handle *
		/* the thread that ends its session: LTTng takes half a second for that, and the caller need not wait */
		end;
};

/* Bytes per second on the busiest cpu; 0: nothing was written, or it could not be measured. */
uint64_t bsv_probe(struct bsv_probed *p, const struct bsv_lttng *lttng, enum bsv_detail detail,
                   struct bsv_buffers buffers);

/* Remove what it left. */
void bsv_probe_close(struct bsv_probed *p);

#endif
