/* net.h -- a MobileNet in this process, bound once, to be run again and again. What fails here ends the run. */
#ifndef NET_H
#define NET_H

#include "nnb/device.h"

struct net {
	struct nnb_device *device;
	struct nnb_prepared *prepared;
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	struct nnb_argument in, out;
	struct nnb_execution *execution;
};

void net_open(struct net *n, const char *driver);
void net_close(struct net *n);

/* Have the execution begin with the first operation again; then it is to be run. */
void net_again(const struct net *n);

#endif
