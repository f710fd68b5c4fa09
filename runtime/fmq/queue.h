/* queue.h -- inside of a queue: the words in shared memory and the handle in the process. */
#ifndef NNB_FMQ_QUEUE_H
#define NNB_FMQ_QUEUE_H

#include "nnb/fmq.h"

#include <stdatomic.h>

#include "event_flag.h"

enum { LINE = 128 }; /* apart: neighbouring 64-byte lines are fetched in pairs */

#define NNB_FMQ_MEMFD_NAME "nnb-fmq"
#define NNB_FMQ_ROOM_MAGIC UINT64_C(0x31716d66626e6e) /* "nnbfmq1" */

/*
 * The waiting room, in shared memory, each part on lines of its own. Written by us, not by libfmq; a queue
 * works without one, less well.
 */
struct nnb_fmq_room {
	_Atomic uint32_t cpu[2];               /* by side: 1 + the cpu it was last seen on, 0 unknown */
	_Atomic uint32_t sleepers;             /* the event flag's count of them */
	_Alignas(LINE) _Atomic uint64_t reach; /* unsynchronized: where the writer's overwriting ends */
	/* For whoever looks at a stranger's queue; the queue itself never reads these. */
	_Alignas(LINE) uint64_t magic;
	uint32_t quantum;
	uint32_t flavour;
	uint32_t offset[NNB_FMQ_WAITING_ROOM];
	uint64_t ring_bytes;
};

/* What one side of a handle knows. Written by the thread that plays the side, and by no other. */
struct nnb_fmq_end {
	_Alignas(LINE) uint64_t mine; /* own counter, as last stored or accepted */
	uint64_t theirs;              /* the other counter, as last read; unsynchronized writer: reach, as found */
	size_t at;                    /* mine % ring_bytes */
	size_t begun;                 /* elements of the open transaction */
	uint32_t cpu;                 /* as last published */
	bool settled;                 /* writer: has begun, mine is the counter */
	struct nnb_fmq_waited last, total;
};

struct nnb_fmq {
	/* Set when made, constant after. */
	unsigned char *ring;
	size_t ring_bytes;
	size_t elem_size;
	size_t capacity;
	bool elem_pow2;
	bool synchronized;
	bool read_only;
	bool has_flag; /* the flag below is there */
	_Atomic uint64_t *rd, *wr;
	struct nnb_fmq_room *room; /* or NULL */
	struct nnb_event_flag flag;
	uint64_t window_ns;
	struct nnb_fmq_desc desc; /* owns its fds */
	void *map[NNB_FMQ_MAX_FDS];
	size_t map_bytes[NNB_FMQ_MAX_FDS];
	bool shut; /* set once, by any thread, atomically */

	struct nnb_fmq_end end[2]; /* by enum nnb_fmq_side */
};

#endif
