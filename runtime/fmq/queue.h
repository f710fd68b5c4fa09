/* queue.h -- inside of a queue: the words in shared memory and the handle in the process. */
#ifndef NNB_FMQ_QUEUE_H
#define NNB_FMQ_QUEUE_H

#include "nnb/fmq.h"

#include <stdatomic.h>
#include <string.h>

#include "event_flag.h"
#include "nbt/nbt.h"

enum { LINE = 128 }; /* apart: neighbouring 64-byte lines are fetched in pairs */

#define NNB_FMQ_MEMFD_NAME "nnb-fmq"
#define NNB_FMQ_ROOM_MAGIC UINT64_C(0x31716d66626e6e) /* "nnbfmq1" */

/*
 * The waiting room, in shared memory, each part on lines of its own. Written by us, not by libfmq; a queue
 * works without one, less well.
 */
struct nnb_fmq_room {
	_Atomic uint32_t cpu[2];    /* by side: 1 + the cpu it was last seen on, 0 unknown */
	_Atomic uint32_t sleepers;  /* the event flag's count of them */
	_Atomic uint32_t window_us; /* how long the side that made the queue polls; UINT32_MAX: for ever */
	_Atomic uint32_t stream;    /* number in traces of the burst that uses this queue; 0: none, or unknown */
	_Alignas(LINE) _Atomic uint64_t reach; /* unsynchronized: where the writer's overwriting ends */
	/* for tools that inspect the queue of another process; the queue itself never reads these */
	_Alignas(LINE) uint64_t magic;
	uint32_t quantum;
	uint32_t flavour;
	uint32_t offset[NNB_FMQ_WAITING_ROOM];
	uint64_t ring_bytes;
};

/* The state of one side of a handle. Only the thread of that side writes it. */
struct nnb_fmq_end {
	_Alignas(LINE) uint64_t mine; /* own counter, as last stored or accepted */
	uint64_t theirs;              /* the other counter, as last read; unsynchronized writer: reach, as found */
	size_t at;                    /* mine % ring_bytes */
	size_t begun;                 /* elements of the open transaction */
	uint32_t cpu;                 /* as last published */
	bool settled;                 /* writer: has begun, mine is the counter */
	uint32_t wrote;               /* writer: bytes of the last message; 0: they were in the ring already */
	struct nnb_fmq_waited last, total;
#ifndef NBT_OFF
	/* writer: which execution the next message belongs to, 0: none; and how long it waited for room, at which
	 * position */
	uint64_t exec, blocked_ns, blocked_at;
#endif
};

struct nnb_fmq {
	/* Set when made, constant after. */
	unsigned char *ring;
	size_t ring_bytes;
	size_t elem_size;
	size_t capacity;
	uint64_t
		elem_inverse; /* 2^64 / elem_size, rounded up: divides 32 bits exactly by a multiplication; 0: size 1 */
	bool elem_pow2;
	bool synchronized;
	bool read_only;
	bool has_flag; /* the flag below is there */
	_Atomic uint64_t *rd, *wr;
	struct nnb_fmq_room *room; /* NULL if the queue is of libfmq, without a waiting room */
	struct nnb_event_flag flag;
	uint64_t window_ns;
	struct nnb_fmq_desc desc; /* owns its fds */
	void *map[NNB_FMQ_MAX_FDS];
	size_t map_bytes[NNB_FMQ_MAX_FDS];
	struct nnb__gate *gate; /* of the app whose files they are; NULL: none */
	bool shut;              /* set once, by any thread, atomically */
	uint64_t number;        /* the queue's number in traces, the same through all handles: its ring's inode */
	uint8_t kind;           /* enum nbt_queue */

	/* Called before the reader sleeps, because nothing came while it polled; takes microseconds. NULL: nothing. */
	void (*before_sleep)(void *arg);
	void *before_sleep_arg;

	struct nnb_fmq_end end[2]; /* by enum nnb_fmq_side */
};

/* This handle is of one of the two queues of a burst. Before it is used. */
static inline void nnb__fmq_is_of_burst(struct nnb_fmq *q, enum nbt_queue kind)
{
	q->kind = (uint8_t)kind;
}

/* The next messages that this handle writes belong to @exec. For the thread that writes. */
static inline void nnb__fmq_writes_for(struct nnb_fmq *q, uint64_t exec)
{
#ifndef NBT_OFF
	q->end[NNB_FMQ_WRITER].exec = exec;
#else
	(void)q, (void)exec;
#endif
}

/*
 * nnb_fmq_begin_receive in two parts: wait for a message, then open it. @ready: as await returned it; open returns the
 * same. Between them, a message that equals a known one can be dropped instead of opened.
 */
int nnb__fmq_await(struct nnb_fmq *q, uint64_t timeout_ns);
int nnb__fmq_open(struct nnb_fmq *q, int ready, struct nnb_fmq_tx *ret);

/*
 * After await: does all that was received equal the @n elements of @message? Compares bytes where they lie, for a
 * caller that then uses @message only: the peer may change them meanwhile. False if they wrap around the ring's end.
 */
static inline bool nnb__fmq_holds(const struct nnb_fmq *q, const void *message, size_t n)
{
	const struct nnb_fmq_end *e = &q->end[NNB_FMQ_READER];
	size_t bytes = n * q->elem_size;

	return e->theirs - e->mine == bytes && bytes <= q->ring_bytes - e->at &&
	       memcmp(q->ring + e->at, message, bytes) == 0;
}

/* Consume @n received elements, without opening them. */
void nnb__fmq_drop(struct nnb_fmq *q, size_t n);

/* Is there room for a message of @n elements? 0, NNB_FMQ_FULL, -EMSGSIZE, -EACCES or -EBADMSG. */
int nnb__fmq_room_for(struct nnb_fmq *q, size_t n);

/*
 * Write a message of @n elements, for which there is room, and wake its receiver. For a synchronized queue with an
 * event flag.
 *
 * A burst sends the same message again and again, and if the ring's size is a multiple of the message's, its bytes are
 * in the ring since the lap before. They are not written again then: the lines stay in the caches of both cpus, and
 * only the counter's line moves.
 */
void nnb__fmq_send(struct nnb_fmq *q, const void *message, size_t n);

/*
 * For the thread that writes, which is about to compute a message like the last one: fetch the lines that this will
 * be written to, if the last one was written. The peer's cache owns them since it read the previous lap. Without the
 * fetch, our stores wait for the lines, and the peer waits for our stores.
 */
void nnb__fmq_expects_write(const struct nnb_fmq *q);

/*
 * Seal the files of @q, so that no process can punch holes into them any more: while one does, a store into the hole
 * waits for it, and so for a thread of the peer. No process can map them for writing any more, either. False: a file
 * is not sealed against growing, so it may not be the queue's alone, or it takes no more seals.
 */
bool nnb__fmq_keep_pages(const struct nnb_fmq *q);

/*
 * Pass the number that the burst has in traces to the client, through the queue. The peer can write any number there.
 */
static inline void nnb__fmq_set_stream(struct nnb_fmq *q, uint32_t stream)
{
	if (q->room)
		atomic_store_explicit(&q->room->stream, stream, memory_order_relaxed);
}

/* How long this handle polls before it sleeps. */
static inline uint32_t nnb__fmq_window_us(const struct nnb_fmq *q)
{
	return q->window_ns / 1000 > UINT32_MAX ? UINT32_MAX : (uint32_t)(q->window_ns / 1000);
}

/* The maker's polling window in us; UINT32_MAX: unlimited, or unknown. */
static inline uint32_t nnb__fmq_maker_window_us(const struct nnb_fmq *q)
{
	return q->room ? atomic_load_explicit(&q->room->window_us, memory_order_relaxed) : UINT32_MAX;
}

static inline uint32_t nnb__fmq_stream(const struct nnb_fmq *q)
{
	return q->room ? atomic_load_explicit(&q->room->stream, memory_order_relaxed) : 0;
}

#endif
