/*
 * driver_gate.c -- the xnnpack driver behind a gate: a test says when executions and preparations go on, and sees
 * what the service holds.
 *
 * Linked with the driver's own sources.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "nnb/driver.h"
#include "unit/gate.h"

extern const struct nnb_driver nnb_driver_xnnpack;

static struct gate *gate;

static struct gate *open_gate(void)
{
	static struct gate nobodys;
	const char *path = getenv("NNB_GATE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*gate), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? &nobodys : p;
}

static void pass(const atomic_uint *hold, atomic_uint *held)
{
	if (!atomic_load(hold))
		return;
	atomic_fetch_add(held, 1);
	while (atomic_load(hold))
		nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	atomic_fetch_sub(held, 1);
}

static int device_open(void **ret)
{
	gate = open_gate();
	return nnb_driver_xnnpack.open(ret);
}

static void device_close(void *device)
{
	nnb_driver_xnnpack.close(device);
}

static void capabilities(void *device, struct nnb_capabilities *ret)
{
	nnb_driver_xnnpack.capabilities(device, ret);
}

static enum nnb_status supported(void *device, const struct nnb_graph *graph, bool *ret)
{
	return nnb_driver_xnnpack.supported(device, graph, ret);
}

static enum nnb_status prepare(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how, void **ret,
                               struct nnb_reason *reason)
{
	enum nnb_status status;

	pass(&gate->hold_prepares, &gate->held_prepares);
	status = nnb_driver_xnnpack.prepare(device, graph, how, ret, reason);
	if (!status)
		atomic_fetch_add(&gate->prepared, 1);
	return status;
}

static void release(void *prepared)
{
	atomic_fetch_sub(&gate->prepared, 1);
	nnb_driver_xnnpack.release(prepared);
}

static enum nnb_status run_begin(void *prepared, const struct nnb_run *run, void **ret)
{
	enum nnb_status status = nnb_driver_xnnpack.run_begin(prepared, run, ret);

	if (!status)
		atomic_fetch_add(&gate->runs, 1);
	return status;
}

static enum nnb_status run_op(void *run, uint32_t op)
{
	if (op == 0)
		pass(&gate->hold_runs, &gate->held_runs);
	return nnb_driver_xnnpack.run_op(run, op);
}

static void run_park(void *run)
{
	if (nnb_driver_xnnpack.run_park)
		nnb_driver_xnnpack.run_park(run);
}

static void run_end(void *run)
{
	atomic_fetch_sub(&gate->runs, 1);
	nnb_driver_xnnpack.run_end(run);
}

static void performance(void *device, bool on)
{
	(void)device;
	atomic_store(&gate->performance, on);
}

NNB_PUBLIC extern const struct nnb_driver nnb_driver_gate;
const struct nnb_driver nnb_driver_gate = {
	.abi = NNB_DRIVER_ABI,
	.name = "gate",
	.version = "1",
	.open = device_open,
	.close = device_close,
	.capabilities = capabilities,
	.supported = supported,
	.prepare = prepare,
	.release = release,
	.run_begin = run_begin,
	.run_op = run_op,
	.run_park = run_park,
	.run_end = run_end,
	.performance = performance,
};
