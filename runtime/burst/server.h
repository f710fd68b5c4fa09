/* server.h -- calls on a burst's server that a service needs: halt it, and describe it in traces. */
#ifndef NNB_BURST_SERVER_H
#define NNB_BURST_SERVER_H

#include "nnb/burst.h"

/*
 * Cancel the current execution, and send no more answers. The server must be stopped later. Any thread; does not
 * wait.
 */
void nnb__burst_server_halt(struct nnb_burst_server *server);

/* The queues of a server, for traces. Any thread. */
struct nnb__burst_queues {
	uint32_t request, result; /* capacities, in datums */
	uint64_t window_ns;
	uint32_t client_spin_us; /* the client's polling window, as the client reports it */
};
void nnb__burst_server_queues(const struct nnb_burst_server *server, struct nnb__burst_queues *ret);

/* A trace session has begun: emit events for the mapped memory and for the execution under way. Any thread. */
void nnb__burst_server_emit_state(const struct nnb_burst_server *server);

#endif
