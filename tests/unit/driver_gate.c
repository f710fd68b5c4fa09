/*
 * driver_gate.c -- the xnnpack driver behind a gate: a test decides when executions, preparations and copies of
 * buffers go on, and reads what the service holds.
 *
 * Linked with the driver's own sources.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "nnb/driver.h"
#include "unit/gate.h"

extern const struct nnb_driver nnb_driver_xnnpack;

static struct gate *gate;

struct gated_run {
	void *inner;
	const float *first; /* address of the first input; NULL: no input */
	float tag;
	const struct nnb_run_terms *terms;
};

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

static void gate_pass(const atomic_uint *hold, atomic_uint *held)
{
	if (!atomic_load(hold))
		return;
	atomic_fetch_add(held, 1);
	while (atomic_load(hold))
		nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	atomic_fetch_sub(held, 1);
}

/* Whether this run may go on: the test sets how many may, and all others stay. */
static bool may_go_on(void)
{
	unsigned n = atomic_load(&gate->let);

	while (n && !atomic_compare_exchange_weak(&gate->let, &n, n - 1))
		;
	return n || !atomic_load(&gate->hold_runs);
}

static void pass_run(unsigned op)
{
	if (!atomic_load(&gate->hold_runs) || op != atomic_load(&gate->hold_op))
		return;
	atomic_fetch_add(&gate->held_runs, 1);
	atomic_fetch_add(&gate->came, 1);
	while (!may_go_on())
		nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	atomic_fetch_sub(&gate->held_runs, 1);
}

static uint64_t cpu_us(void)
{
	return thread_cpu_ns() / 1000;
}

static void take_time(void)
{
	uint64_t us = atomic_load(&gate->op_us), end = us ? cpu_us() + us : 0;

	while (us && cpu_us() < end)
		;
}

static void gate_note(float tag, unsigned op)
{
	unsigned i = atomic_fetch_add(&gate->n_ops, 1);

	if (i < GATE_OPS)
		gate->ops[i] = (struct gate_op){ tag, op, (int)syscall(SYS_gettid) };
}

/* Use up mappings until the kernel allows the process only @room more. */
static void use_up_mappings(size_t room)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size_t)1 << 20;
	char *p = mmap(NULL, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t n = 1;

	if (p == MAP_FAILED)
		abort();
	while (n < pages && mprotect(p + n * page, page, PROT_READ) == 0) /* each call splits off two mappings */
		n += 2;
	if (n >= pages || n < room + 2)
		abort(); /* this kernel's limit is out of reach, or fewer than @room were left */
	n -= room;
	mprotect(p + n * page, (pages - n) * page, PROT_NONE);
}

static int device_open(void **ret)
{
	const char *room = getenv("NNB_GATE_ROOM");

	gate = open_gate();
	if (room)
		use_up_mappings((size_t)atol(room));
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

	gate_pass(&gate->hold_prepares, &gate->held_prepares);
	status = nnb_driver_xnnpack.prepare(device, graph, how, ret, reason);
	atomic_store(&gate->graph, graph->id);
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
	struct gated_run *r = calloc(1, sizeof(*r));
	enum nnb_status status;

	if (!r)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	status = nnb_driver_xnnpack.run_begin(prepared, run, &r->inner);
	if (status) {
		free(r);
		return status;
	}
	r->first = run->inputs[0];
	r->terms = run->terms;
	atomic_fetch_add(&gate->runs, 1);
	*ret = r;
	return NNB_STATUS_NONE;
}

/* The context of a burst. */
struct gated_burst {
	unsigned number; /* the first is 1 */
};

static void note_run(const struct gated_run *r)
{
	const struct nnb_run_terms *t = r->terms;
	const struct gated_burst *b = t->burst;

	atomic_store(&gate->run.tag, r->tag);
	atomic_store(&gate->run.deadline_ns, t->deadline_ns);
	atomic_store(&gate->run.priority, t->priority);
	atomic_store(&gate->run.burst, b ? b->number : 0);
	atomic_fetch_add(&gate->n_runs, 1);
}

static enum nnb_status run_op(void *run, uint32_t op)
{
	struct gated_run *r = run;

	if (!op)
		r->tag = r->first ? *(const volatile float *)r->first : 0;
	if (r->tag != 0) { /* the run of a seed has tag 0 */
		if (!op)
			note_run(r);
		gate_note(r->tag, op);
		pass_run(op);
	}
	take_time();
	return nnb_driver_xnnpack.run_op(r->inner, op);
}

static void run_park(void *run)
{
	struct gated_run *r = run;

	if (nnb_driver_xnnpack.run_park)
		nnb_driver_xnnpack.run_park(r->inner);
}

static void run_end(void *run)
{
	struct gated_run *r = run;

	atomic_fetch_sub(&gate->runs, 1);
	nnb_driver_xnnpack.run_end(r->inner);
	free(r);
}

/* Several threads of the service ask for buffers. The test reads the note after the service has answered. */
static void note_buffer(const struct nnb_driver_buffer *what)
{
	static pthread_mutex_t noting = PTHREAD_MUTEX_INITIALIZER;
	struct gate_buffer *b = &gate->buffer;

	pthread_mutex_lock(&noting);
	*b = (struct gate_buffer){ what->bytes, what->type, what->rank, { 0 }, what->fixed, what->n_roles, { { 0 } } };
	for (unsigned i = 0; i < 4; i++)
		b->dims[i] = what->dims[i];
	for (unsigned i = 0; i < what->n_roles && i < GATE_ROLES; i++) {
		const struct nnb_driver_role *r = &what->roles[i];

		b->roles[i] =
			(struct gate_role){ r->graph, r->index, r->output, r->preference, r->priority, r->frequency };
	}
	atomic_fetch_add(&gate->n_buffers, 1);
	pthread_mutex_unlock(&noting);
}

static int buffer_new(void *device, const struct nnb_driver_buffer *what, void **ret)
{
	int r = atomic_load(&gate->no_buffers) ? -ENOMEM : nnb_plain_buffer_new(device, what, ret);

	note_buffer(what);

	if (!r)
		atomic_fetch_add(&gate->buffers, 1);
	return r;
}

static void buffer_free(void *device, void *buffer, uint64_t bytes)
{
	atomic_fetch_sub(&gate->buffers, 1);
	nnb_plain_buffer_free(device, buffer, bytes);
}

static void buffer_write(void *buffer, const void *from, uint64_t bytes)
{
	gate_pass(&gate->hold_copies, &gate->held_copies);
	memcpy(buffer, from, bytes);
}

static void buffer_read(const void *buffer, void *to, uint64_t bytes)
{
	gate_pass(&gate->hold_copies, &gate->held_copies);
	memcpy(to, buffer, bytes);
}

static int burst_new(void *prepared, void **ret)
{
	struct gated_burst *b = atomic_load(&gate->no_bursts) ? NULL : malloc(sizeof(*b));
	unsigned number = atomic_fetch_add(&gate->n_bursts, 1) + 1;

	if (!b)
		return -ENOMEM;
	(void)prepared;
	*b = (struct gated_burst){ number };
	atomic_fetch_add(&gate->bursts, 1);
	*ret = b;
	return 0;
}

static void burst_free(void *burst)
{
	atomic_fetch_sub(&gate->bursts, 1);
	free(burst);
}

/* ---- hardware buffers: R8G8B8A8 whose pixels' bytes are the tensor's, row by row ---- */

struct gated_image {
	struct nnb_mapping *mapping;
	uint32_t rows, row_bytes, pitch;
	uint8_t *place; /* the bytes that the run reads or writes, after this struct */
};

static struct gated_image *image_of(void *place)
{
	return (struct gated_image *)((char *)place - sizeof(struct gated_image));
}

static void copy_rows(const struct gated_image *m, bool to_image)
{
	uint8_t *pixels = nnb_mapping_data(m->mapping);

	for (uint32_t row = 0; row < m->rows; row++) {
		uint8_t *there = pixels + (size_t)row * m->pitch, *here = m->place + (size_t)row * m->row_bytes;

		memcpy(to_image ? there : here, to_image ? here : there, m->row_bytes);
	}
}

static int hardware_buffer_open(void *prepared, const struct nnb_driver_image *what, void **ret)
{
	const struct nnb_hardware_buffer *d = &what->description;
	uint64_t bytes = (uint64_t)d->width * 4 * d->height, wanted = 4; /* four bytes, a FLOAT32 */
	struct gated_image *m;
	int r;

	(void)prepared;
	atomic_fetch_add(&gate->n_images, 1);
	for (uint32_t i = 0; i < what->shape->rank; i++)
		wanted *= what->shape->dims[i];
	if (d->format != NNB_FORMAT_R8G8B8A8 || d->layers != 1 || bytes != wanted)
		return -ENOTSUP;
	m = calloc(1, sizeof(*m) + bytes + NNB_MAPPING_SLACK);
	if (!m)
		return -ENOMEM;
	r = nnb_map_hardware_buffer(&m->mapping, what->memory);
	if (r) {
		free(m);
		return r;
	}
	m->rows = d->height;
	m->row_bytes = d->width * 4;
	m->pitch = d->stride * 4;
	m->place = (uint8_t *)(m + 1);
	if (!what->output)
		copy_rows(m, false);
	atomic_fetch_add(&gate->images, 1);
	*ret = m->place;
	return 0;
}

static void hardware_buffer_close(void *prepared, void *buffer, bool written)
{
	struct gated_image *m = image_of(buffer);

	(void)prepared;
	if (written)
		copy_rows(m, true);
	nnb_mapping_unref(m->mapping);
	free(m);
	atomic_fetch_sub(&gate->images, 1);
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
	.buffer_new = buffer_new,
	.buffer_free = buffer_free,
	.buffer_write = buffer_write,
	.buffer_read = buffer_read,
	.performance = performance,
	.burst_new = burst_new,
	.burst_free = burst_free,
	.hardware_buffer_open = hardware_buffer_open,
	.hardware_buffer_close = hardware_buffer_close,
};
