/*
 * probe.h -- how much a workload that runs already writes: a short recording that nobody keeps.
 */
#ifndef BSV_PROBE_H
#define BSV_PROBE_H

#include "record/session.h"

/* All 0: nothing was probed. */
struct bsv_probed {
	char directory[256];
	const struct bsv_lttng *lttng;
	struct lttng_destruction_handle
		*end; /* of its session: LTTng takes half a second for that, for which nobody waits at once */
};

/* Bytes a second on its busiest cpu; 0: nothing, or nobody can tell. */
uint64_t bsv_probe(struct bsv_probed *p, const struct bsv_lttng *lttng, enum bsv_detail detail,
                   struct bsv_buffers buffers);

/* Remove what it left. */
void bsv_probe_close(struct bsv_probed *p);

#endif
