/*
 * region.c -- where a queue lies: making, mapping and judging its memory.
 *
 * TRUST     A descriptor and its files are a stranger's. A file must be an ordinary memfd sealed against
 *           shrinking, or its owner could cut it and the next access would be a SIGBUS: the seal is checked
 *           first, the size after it, and then the size cannot change. Every grantor must lie inside its file.
 *           Grantors may overlap (libfmq allows it): that spoils the stranger's queue and nothing else.
 */
#include "nnb/fmq.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/close.h"
#include "base/kept.h"
#include "base/sealed.h"
#include "base/sys.h"
#include "memory/errand.h"
#include "memory/gate.h"
#include "queue.h"
#include "trace/open.h"

enum { ALIGNMENT = 8 };              /* alignment of every grantor's offset */
#define SEAL_NS UINT64_C(1000000000) /* limit of the wait for the lock of a stranger's file */

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The largest extent a descriptor may state: AIDL's are signed, and a page is added in mapping. */
static uint64_t extent_max(void)
{
	return INT_MAX - page_bytes();
}

/* ---- files ---- */

/* Make sure that the caller's file holds @bytes and keeps them. */
static int seal_ring(int fd, uint64_t bytes)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (seals < 0)
		return errno == EBADF ? -EBADF : -EPERM;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < bytes)
		return -EINVAL;
	return seals & F_SEAL_SHRINK || !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) ? 0 : -EPERM;
}

/* ---- attaching ---- */

static uint64_t least_extent(unsigned grantor)
{
	switch (grantor) {
	case NNB_FMQ_READ_COUNTER:
	case NNB_FMQ_WRITE_COUNTER:
		return sizeof(uint64_t);
	case NNB_FMQ_EVENT_FLAG:
		return sizeof(uint32_t);
	case NNB_FMQ_WAITING_ROOM:
		return sizeof(struct nnb_fmq_room);
	default:
		return 0;
	}
}

/*
 * Whether the descriptor has grantor @i. A queue with a waiting room but without an event flag has an empty grantor
 * for the flag.
 */
static bool has_grantor(const struct nnb_fmq_desc *d, unsigned i)
{
	bool no_flag = i == NNB_FMQ_EVENT_FLAG && d->n_grantors > NNB_FMQ_WAITING_ROOM && !d->grantors[i].extent;

	return i < d->n_grantors && !no_flag;
}

/* The checks of a descriptor that need no access to its files. */
static int desc_check(const struct nnb_fmq_desc *d, size_t elem_size)
{
	if (d->n_grantors <= NNB_FMQ_RING || d->n_grantors > NNB_FMQ_MAX_GRANTORS || d->n_fds > NNB_FMQ_MAX_FDS)
		return -EINVAL;
	if (d->flags != NNB_FMQ_SYNCHRONIZED && d->flags != NNB_FMQ_UNSYNCHRONIZED)
		return -EINVAL;
	if (!d->quantum || d->quantum > INT_MAX || d->quantum != elem_size)
		return -EINVAL;
	if (d->grantors[NNB_FMQ_RING].extent < d->quantum)
		return -EINVAL;
	for (unsigned i = 0; i < d->n_grantors; i++) {
		const struct nnb_fmq_grantor *g = &d->grantors[i];

		if (g->fd_index >= d->n_fds || (has_grantor(d, i) && g->extent < least_extent(i)))
			return -EINVAL;
		if (i == NNB_FMQ_WAITING_ROOM && g->offset % LINE)
			return -EINVAL;
	}
	return 0;
}

/* Keep our own reference to file @i and map as much of it as the grantors need. */
static int map_file(struct nnb_fmq *q, unsigned i, int fd)
{
	struct nnb__gate_call call;
	uint64_t bytes;
	uint64_t end = 0;
	void *p;
	int r;

	assert(i == q->desc.n_fds && i < NNB_FMQ_MAX_FDS);
	q->desc.fds[i] = nnb__dup(fd);
	if (q->desc.fds[i] < 0)
		return q->desc.fds[i];
	r = nnb__sealed_bytes(q->desc.fds[i], &bytes);
	if (r < 0)
		return r;
	for (unsigned g = 0; g < q->desc.n_grantors; g++) {
		const struct nnb_fmq_grantor *grantor = &q->desc.grantors[g];

		if (grantor->fd_index != i)
			continue;
		/* Is this grantor possible, in a file of @bytes? */
		if (!(grantor->offset <= INT_MAX && grantor->offset % ALIGNMENT == 0 &&
		      grantor->extent <= extent_max() && grantor->offset + grantor->extent <= bytes))
			return -EINVAL;
		if (grantor->offset + grantor->extent > end)
			end = grantor->offset + grantor->extent;
	}
	if (!end)
		return 0;
	r = nnb__gate_open(q->gate, q->desc.fds[i], true, &call);
	if (r)
		return r;
	p = mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_SHARED, q->desc.fds[i], 0);
	if (p == MAP_FAILED && (errno == EPERM || errno == EACCES) && !q->synchronized) {
		q->read_only = true;
		p = mmap(NULL, end, PROT_READ, MAP_SHARED, q->desc.fds[i], 0);
	}
	r = p == MAP_FAILED ? -errno : 0;
	nnb__gate_close(q->gate, &call, !r);
	if (r)
		return r;
	q->map[i] = p;
	q->map_bytes[i] = end;
	return 0;
}

bool nnb__fmq_keep_pages(const struct nnb_fmq *q)
{
	const struct nnb__errand_wait wait = { .limit_ns = SEAL_NS };

	for (unsigned i = 0; i < q->desc.n_fds; i++) {
		int seals = fcntl(q->desc.fds[i], F_GET_SEALS);

		if (seals < 0 || !(seals & F_SEAL_GROW))
			return false;
		if (!(seals & F_SEAL_FUTURE_WRITE) &&
		    nnb__errand_seal(nnb__errands_mine(), q->desc.fds[i], F_SEAL_FUTURE_WRITE, &wait) < 0)
			return false;
	}
	return true;
}

static void *grantor_address(const struct nnb_fmq *q, unsigned grantor)
{
	const struct nnb_fmq_grantor *g = &q->desc.grantors[grantor];

	assert(g->fd_index < q->desc.n_fds && g->offset + g->extent <= q->map_bytes[g->fd_index]);
	return (unsigned char *)q->map[g->fd_index] + g->offset;
}

/* Fill in the handle from q->desc, whose files are mapped. */
static void take_places(struct nnb_fmq *q, uint64_t window_ns)
{
	uint64_t extent = q->desc.grantors[NNB_FMQ_RING].extent;

	q->elem_size = q->desc.quantum;
	q->elem_pow2 = (q->elem_size & (q->elem_size - 1)) == 0;
	q->elem_inverse = q->elem_size > 1 ? UINT64_MAX / q->elem_size + 1 : 0;
	q->capacity = extent / q->elem_size;
	assert(q->capacity); /* desc_check */
	q->ring_bytes = q->capacity * q->elem_size;
	q->rd = grantor_address(q, NNB_FMQ_READ_COUNTER);
	q->wr = grantor_address(q, NNB_FMQ_WRITE_COUNTER);
	q->ring = grantor_address(q, NNB_FMQ_RING);
	if (q->desc.n_grantors > NNB_FMQ_WAITING_ROOM)
		q->room = grantor_address(q, NNB_FMQ_WAITING_ROOM);
	if (has_grantor(&q->desc, NNB_FMQ_EVENT_FLAG) && !q->read_only) {
		q->has_flag = true;
		q->flag.word = grantor_address(q, NNB_FMQ_EVENT_FLAG);
		q->flag.sleepers = q->room ? &q->room->sleepers : NULL;
	}
	if (q->has_flag && q->synchronized)
		q->window_ns = window_ns == NNB_FMQ_WINDOW_AUTO ? nnb_fmq_wake_cost() : window_ns;
}

/*
 * Set the queue's number for traces. Loads the tracepoint provider, because a write through this handle emits events.
 */
static void queue_name(struct nnb_fmq *q)
{
#ifndef NBT_OFF
	struct stat st;

	nnb__trace_open();
	if (!fstat(q->desc.fds[q->desc.grantors[NNB_FMQ_RING].fd_index], &st))
		q->number = st.st_ino;
#endif
	q->kind = NBT_queue_other;
}

int nnb_fmq_attach(struct nnb_fmq **ret, const struct nnb_fmq_desc *desc, const struct nnb_fmq_attach *how)
{
	__attribute__((cleanup(nnb_fmq_freep))) struct nnb_fmq *q = NULL;
	int r = desc_check(desc, how->elem_size);

	if (r < 0)
		return r;
	q = aligned_alloc(LINE, sizeof(*q));
	if (!q)
		return -ENOMEM;
	memset(q, 0, sizeof(*q));
	q->desc = *desc;
	q->desc.n_fds = 0;
	q->gate = nnb__gate_ref(nnb__gate_mine());
	q->synchronized = desc->flags == NNB_FMQ_SYNCHRONIZED;
	for (unsigned i = 0; i < desc->n_fds; i++) {
		r = map_file(q, i, desc->fds[i]);
		q->desc.n_fds += q->desc.fds[i] >= 0;
		if (r < 0)
			return r;
	}
	take_places(q, how->window_ns);
	queue_name(q);
	if (!how->keep_counters && !q->read_only) {
		atomic_store_explicit(q->wr, 0, memory_order_relaxed);
		if (q->room)
			atomic_store_explicit(&q->room->reach, 0, memory_order_relaxed);
		if (q->synchronized)
			atomic_store_explicit(q->rd, 0, memory_order_release);
	}
	*ret = q;
	q = NULL;
	return 0;
}

struct nnb_fmq *nnb_fmq_free(struct nnb_fmq *q)
{
	if (!q)
		return NULL;
	for (unsigned i = 0; i < q->desc.n_fds; i++) {
		if (q->map[i])
			nnb__gate_unmap(q->gate, q->map[i], q->map_bytes[i], 0, q->desc.fds[i], 1);
		else
			nnb__close(q->desc.fds[i]);
	}
	nnb__gate_unref(q->gate);
	free(q);
	return NULL;
}

void nnb_fmq_shut(struct nnb_fmq *q)
{
	__atomic_store_n(&q->shut, true, __ATOMIC_RELAXED);
	if (!q->has_flag)
		return;
	/* a waiter that has armed sees the word change, or is woken; a waiter that has not armed yet will see shut */
	atomic_fetch_or_explicit(q->flag.word, NNB_FMQ_NOT_EMPTY | NNB_FMQ_NOT_FULL, memory_order_seq_cst);
	nnb__futex_wake(q->flag.word, NNB_FMQ_NOT_EMPTY | NNB_FMQ_NOT_FULL);
}

void nnb_fmq_describe(const struct nnb_fmq *q, struct nnb_fmq_desc *ret)
{
	*ret = q->desc;
}

/* ---- making ---- */

/* Lay the parts out one behind the other in file 0; the ring may be in file 1. Returns the bytes of file 0. */
static uint64_t lay_out(struct nnb_fmq_desc *d, const struct nnb_fmq_config *c, uint64_t ring_bytes)
{
	bool spread = c->layout == NNB_FMQ_LAYOUT_SPREAD;
	bool own_ring = c->ring_fd <= 0;
	uint64_t apart = spread ? LINE : ALIGNMENT;
	uint64_t at = 0;
	/* Small things first where each has a line to itself; libfmq puts the flag behind the ring. */
	static const unsigned order[2][NNB_FMQ_WAITING_ROOM + 1] = {
		[false] = { NNB_FMQ_READ_COUNTER, NNB_FMQ_WRITE_COUNTER, NNB_FMQ_RING, NNB_FMQ_EVENT_FLAG,
		            NNB_FMQ_WAITING_ROOM },
		[true] = { NNB_FMQ_READ_COUNTER, NNB_FMQ_WRITE_COUNTER, NNB_FMQ_EVENT_FLAG, NNB_FMQ_WAITING_ROOM,
		           NNB_FMQ_RING },
	};

	d->quantum = (uint32_t)c->elem_size;
	d->flags = c->flavour;
	d->n_fds = own_ring ? 1 : 2;
	d->n_grantors = spread ? NNB_FMQ_WAITING_ROOM + 1 : c->event_flag ? NNB_FMQ_EVENT_FLAG + 1 : NNB_FMQ_RING + 1;
	for (unsigned i = 0; i <= NNB_FMQ_WAITING_ROOM; i++) {
		unsigned part = order[spread][i];
		struct nnb_fmq_grantor *g = &d->grantors[part];

		if (part >= d->n_grantors || (part == NNB_FMQ_EVENT_FLAG && !c->event_flag))
			continue;
		g->extent = part == NNB_FMQ_RING ? ring_bytes : least_extent(part);
		if (part == NNB_FMQ_RING && !own_ring) {
			g->fd_index = 1;
			continue;
		}
		assert(at <= UINT32_MAX);
		g->offset = (uint32_t)at;
		at = round_up(at + g->extent, apart);
	}
	return round_up(at, page_bytes());
}

/* Write the layout into the waiting room, for tools that inspect the queue. */
static void room_sign(struct nnb_fmq *q)
{
	struct nnb_fmq_room *room = q->room;

	if (!room)
		return;
	atomic_store_explicit(&room->window_us, nnb__fmq_window_us(q), memory_order_relaxed);
	room->quantum = q->desc.quantum;
	room->flavour = q->desc.flags;
	room->ring_bytes = q->ring_bytes;
	for (unsigned i = 0; i < NNB_FMQ_WAITING_ROOM; i++)
		room->offset[i] = q->desc.grantors[i].offset;
	room->magic = NNB_FMQ_ROOM_MAGIC;
}

/* The size of the ring, or 0 where there can be no such queue. */
static uint64_t ring_bytes_of(const struct nnb_fmq_config *c)
{
	uint64_t bytes;

	if (!c->elem_size || !c->capacity || __builtin_mul_overflow(c->elem_size, c->capacity, &bytes))
		return 0;
	if (bytes > extent_max() || (c->ring_fd > 0 && bytes > c->ring_fd_bytes))
		return 0;
	return bytes;
}

int nnb_fmq_new(struct nnb_fmq **ret, const struct nnb_fmq_config *config)
{
	struct nnb_fmq_attach how = { .elem_size = config->elem_size, .window_ns = config->window_ns };
	uint64_t ring_bytes = ring_bytes_of(config);
	struct nnb_fmq_desc d = { 0 };
	int r;

	if (!ring_bytes || config->layout > NNB_FMQ_LAYOUT_PACKED)
		return -EINVAL;
	if (config->ring_fd > 0) {
		r = seal_ring(config->ring_fd, ring_bytes);
		if (r < 0)
			return r;
		d.fds[1] = config->ring_fd;
	}
	d.fds[0] = nnb__sealed_new_for_more(NNB_FMQ_MEMFD_NAME, lay_out(&d, config, ring_bytes));
	if (d.fds[0] < 0)
		return d.fds[0];
	r = nnb_fmq_attach(ret, &d, &how);
	close(d.fds[0]);
	if (r == 0)
		room_sign(*ret);
	return r;
}
