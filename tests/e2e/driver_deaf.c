/*
 * driver_deaf.c -- the xnnpack driver without its checks within an operation whether to go on, so that an
 * operation goes on beyond its deadline. Linked with the driver's own sources.
 */
#include "nnb/driver.h"

extern const struct nnb_driver nnb_driver_xnnpack;

NNB_PUBLIC extern struct nnb_driver nnb_driver_deaf;
struct nnb_driver nnb_driver_deaf;

static enum nnb_status run_begin(void *prepared, const struct nnb_run *run, void **ret)
{
	struct nnb_run deaf = *run;

	deaf.look = NULL;
	return nnb_driver_xnnpack.run_begin(prepared, &deaf, ret);
}

static __attribute__((constructor)) void become_a_driver(void)
{
	nnb_driver_deaf = nnb_driver_xnnpack;
	nnb_driver_deaf.name = "deaf";
	nnb_driver_deaf.run_begin = run_begin;
}
