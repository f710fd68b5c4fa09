/*
 * driver_bare.c -- the xnnpack driver without its functions for memory domains. Linked with the driver's own
 * sources.
 */
#include "nnb/driver.h"

extern const struct nnb_driver nnb_driver_xnnpack;

NNB_PUBLIC extern struct nnb_driver nnb_driver_bare;
struct nnb_driver nnb_driver_bare;

static __attribute__((constructor)) void become_a_driver(void)
{
	nnb_driver_bare = nnb_driver_xnnpack;
	nnb_driver_bare.name = "bare";
	nnb_driver_bare.buffer_new = NULL;
	nnb_driver_bare.buffer_free = NULL;
	nnb_driver_bare.buffer_write = NULL;
	nnb_driver_bare.buffer_read = NULL;
}
