/* server.h -- a burst's server, for who ends many at once. */
#ifndef NNB_BURST_SERVER_H
#define NNB_BURST_SERVER_H

#include "nnb/burst.h"

/* From now on it answers nothing, and what it executes is cancelled: to be stopped later. Any thread; does not wait. */
void nnb__burst_server_halt(struct nnb_burst_server *server);

#endif
