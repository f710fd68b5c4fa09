/* server.h -- a burst's server, for who ends many at once. */
#ifndef NNB_BURST_SERVER_H
#define NNB_BURST_SERVER_H

#include "nnb/burst.h"

/* From now on it answers nothing, and what it executes is cancelled: to be stopped later. Any thread; does not wait. */
void nnb__burst_server_halt(struct nnb_burst_server *server);

/* For traces. Any thread. */
struct nnb__burst_queues {
	uint32_t request, result; /* their capacities */
	uint64_t window_ns;
	uint32_t client_spin_us; /* as the client says */
};
void nnb__burst_server_queues(const struct nnb_burst_server *server, struct nnb__burst_queues *ret);

/* Somebody has begun to listen: tell what it has mapped, and what is under way. */
void nnb__burst_server_tell(const struct nnb_burst_server *server);

#endif
