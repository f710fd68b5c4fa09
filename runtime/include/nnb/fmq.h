/*
 * nnb_fmq -- the fast message queue: a ring of fixed-size elements in memory that processes share.
 *
 * There are two flavours. Synchronized: one writer and one reader; no element is lost, and each side may sleep until
 * the other makes room or data. Unsynchronized: one writer that never waits and any number of readers; a reader that
 * was too slow gets NNB_FMQ_OVERRUN.
 *
 * Threads: one handle may be used by one writing and one reading thread at the same time; several writers
 * (or several readers) of one handle take turns. Each process attaches a handle of its own. A queue has one
 * writing handle at a time: a process that takes over writing attaches a new handle. Creating, attaching and freeing
 * exclude every other use of that handle; describing excludes freeing only.
 *
 * Returns: 0; -errno; or a positive NNB_FMQ_* condition of that one call. A failed call has moved no element.
 *   -EMSGSIZE    more elements than the queue can ever hold
 *   -EBADMSG     the shared counters contradict each other: the peer corrupted them
 *   -EOPNOTSUPP  a blocking call on a queue that has no event flag, or is unsynchronized
 *   -ESHUTDOWN   a blocking call after nnb_fmq_shut
 *   -EACCES      a write through a mapping that may only be read
 *
 * Trust: the peer may be hostile. It can corrupt the elements and what the calls return, but never memory outside the
 * ring. It can change elements while they are read in place: copy an element once, then check the copy.
 */
#ifndef NNB_FMQ_H
#define NNB_FMQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/defs.h"
#include "nnb/event_flag.h"

NNB_BEGIN_DECLS

struct nnb_fmq; /* opaque; process memory */

/* Conditions. */
enum {
	NNB_FMQ_FULL = 1,  /* there is no room for that many elements now */
	NNB_FMQ_EMPTY,     /* fewer elements than that now */
	NNB_FMQ_OVERRUN,   /* the writer lapped this unsynchronized reader; all unread elements were dropped */
	NNB_FMQ_TIMED_OUT, /* the peer did not make room or data before the timeout */
};

enum nnb_fmq_flavour {
	NNB_FMQ_SYNCHRONIZED = 1,
	NNB_FMQ_UNSYNCHRONIZED = 2,
};

/* Where the parts of a new queue lie. nnb_fmq_attach accepts any placement. */
enum nnb_fmq_layout {
	NNB_FMQ_LAYOUT_SPREAD = 0, /* each side's words on a cache line of their own, and a waiting room */
	/* libfmq's: read counter 0, write counter 8, ring 16, flag behind it. Slower; a wake without a sleeper
	 * may make a system call; and an unsynchronized read can return elements that were overwritten during the
	 * copy. */
	NNB_FMQ_LAYOUT_PACKED,
};

/* The event flag's bits in the short forms of the blocking calls. */
enum {
	NNB_FMQ_NOT_FULL = 0x01,  /* set by the reader */
	NNB_FMQ_NOT_EMPTY = 0x02, /* set by the writer */
};

/* How long a blocking call polls before it sleeps. */
#define NNB_FMQ_WINDOW_AUTO 0            /* the cost of a wake on this machine: nnb_fmq_wake_cost() */
#define NNB_FMQ_WINDOW_NONE 1            /* sleep at once */
#define NNB_FMQ_WINDOW_ALWAYS UINT64_MAX /* never sleep, unless both sides are on one cpu */

struct nnb_fmq_config {
	size_t elem_size; /* bytes of one element; plain data, no pointers */
	size_t capacity;  /* elements; all of them usable */
	enum nnb_fmq_flavour flavour;
	enum nnb_fmq_layout layout;
	bool event_flag;      /* make an event flag, which the blocking calls of a synchronized queue need */
	uint64_t window_ns;   /* polling window of this handle, or NNB_FMQ_WINDOW_* */
	int ring_fd;          /* > 0: a memfd to hold the ring, duplicated and sealed against shrinking */
	size_t ring_fd_bytes; /* bytes of ring_fd that the queue may use */
};

/*
 * Create a queue with both counters 0. Returns 0, and the caller owns *ret; -EINVAL (a zero, an overflow, more
 * than 2 GiB, a ring_fd too small), -EBADF, -EPERM (ring_fd cannot be sealed), -ENOMEM, -EMFILE.
 */
NNB_PUBLIC int nnb_fmq_new(struct nnb_fmq **ret, const struct nnb_fmq_config *config);

/* Unmap and free. NULL is fine. Returns NULL: q = nnb_fmq_free(q). No thread may be inside a call on it. */
NNB_PUBLIC struct nnb_fmq *nnb_fmq_free(struct nnb_fmq *q);

static inline void nnb_fmq_freep(struct nnb_fmq **q)
{
	*q = nnb_fmq_free(*q);
}

/*
 * End all waiting through this handle: a blocking call that waits, or would have to wait, returns -ESHUTDOWN. Calls
 * that need not wait still succeed. Any thread may call this, at any time before free. A hostile peer can undo the
 * wake of a sleeper, but not the rest: a caller that must be sure calls again until the sleeper has returned.
 */
NNB_PUBLIC void nnb_fmq_shut(struct nnb_fmq *q);

/* ---- descriptor: what another process needs to attach ---- */

/* The part of the queue that a grantor places, by the grantor's index. The first three always exist. */
enum {
	NNB_FMQ_READ_COUNTER,
	NNB_FMQ_WRITE_COUNTER,
	NNB_FMQ_RING,
	NNB_FMQ_EVENT_FLAG,
	NNB_FMQ_WAITING_ROOM, /* not in libfmq: counts of sleepers, and the cpu on which each side runs */
	NNB_FMQ_MAX_GRANTORS = 8,
	NNB_FMQ_MAX_FDS = 4,
};

struct nnb_fmq_grantor {
	uint32_t flags; /* 0 */
	uint32_t fd_index;
	uint32_t offset; /* multiple of 8 */
	uint32_t zero;
	uint64_t extent; /* bytes */
};

struct nnb_fmq_desc {
	uint32_t quantum; /* bytes of one element */
	uint32_t flags;   /* enum nnb_fmq_flavour */
	uint32_t n_grantors;
	uint32_t n_fds;
	struct nnb_fmq_grantor grantors[NNB_FMQ_MAX_GRANTORS];
	int fds[NNB_FMQ_MAX_FDS];
};

/* Describe @q. The fds in *ret are borrowed until @q is freed. */
NNB_PUBLIC void nnb_fmq_describe(const struct nnb_fmq *q, struct nnb_fmq_desc *ret);

struct nnb_fmq_attach {
	size_t elem_size; /* bytes of an element as the caller knows it; must equal the descriptor's quantum */
	/* False resets the queue, which no handle may have used before: one that has must be attached again. True
	 * joins a queue in use. */
	bool keep_counters;
	uint64_t window_ns; /* as in nnb_fmq_config */
};

/*
 * Attach to a described queue. @desc is not trusted, and the caller keeps its fds. An unsynchronized reader
 * starts at position 0. Where a file may only be read, an unsynchronized reader attaches all the same, and
 * resets nothing. 0 and *ret owned by the caller; -EINVAL (the descriptor contradicts itself, the caller, or its
 * files' sizes), -EPERM (a file its owner could still shrink), -EACCES or -EPERM (a synchronized queue in a file
 * that may only be read), -EBADF, -ENOMEM, -EMFILE.
 */
NNB_PUBLIC int nnb_fmq_attach(struct nnb_fmq **ret, const struct nnb_fmq_desc *desc, const struct nnb_fmq_attach *how);

/* The wire form: little-endian, the fds beside it. See nnb_fmq(7). */
enum { NNB_FMQ_WIRE_MAX = 24 + 24 * NNB_FMQ_MAX_GRANTORS };

/* Encode into @buf of @size bytes. Bytes written, or -EINVAL (counts out of range), -ENOSPC. */
NNB_PUBLIC int nnb_fmq_desc_encode(const struct nnb_fmq_desc *desc, void *buf, size_t size);

/*
 * Decode @size bytes and the @n_fds that came with them. The call takes the fds on success only. 0; -EBADMSG (not a
 * descriptor, or its fd count is not @n_fds); -EPROTONOSUPPORT (a later version). The content of
 * the descriptor is checked by nnb_fmq_attach.
 */
NNB_PUBLIC int nnb_fmq_desc_decode(struct nnb_fmq_desc *ret, const void *buf, size_t size, const int *fds,
                                   size_t n_fds);

/* Send over a Unix socket as one message. 0 or -errno. */
NNB_PUBLIC int nnb_fmq_desc_send(int sock, const struct nnb_fmq_desc *desc);

/*
 * Receive a descriptor sent by desc_send. Returns 0, and the caller owns its fds (desc_close); -ECONNRESET at end of
 * file.
 */
NNB_PUBLIC int nnb_fmq_desc_recv(int sock, struct nnb_fmq_desc *ret);

/* Close the fds of a descriptor from decode or recv, and clear them. */
NNB_PUBLIC void nnb_fmq_desc_close(struct nnb_fmq_desc *desc);

/* ---- properties ---- */

NNB_PUBLIC size_t nnb_fmq_capacity(const struct nnb_fmq *q);
NNB_PUBLIC size_t nnb_fmq_elem_size(const struct nnb_fmq *q);
NNB_PUBLIC enum nnb_fmq_flavour nnb_fmq_flavour(const struct nnb_fmq *q);

/* Elements for which there is room, from the writer's view; 0 if the counters are corrupt. Meaningless on an
 * unsynchronized queue. */
NNB_PUBLIC size_t nnb_fmq_available_to_write(const struct nnb_fmq *q);

/* Elements that are unread, from the reader's view; 0 if the counters are corrupt. More than the capacity after an
 * overrun. */
NNB_PUBLIC size_t nnb_fmq_available_to_read(const struct nnb_fmq *q);

/*
 * The queue's event flag, borrowed until @q is freed; NULL if the queue has none, or may only be read. Wait on the
 * queue's word through this flag only: the queue does not count a sleeper of another flag on the same word, and would
 * not wake it.
 */
NNB_PUBLIC struct nnb_event_flag *nnb_fmq_event_flag(struct nnb_fmq *q);

/* ---- without waiting: all @n elements or none ---- */

/* Copy @n elements in. 0 or NNB_FMQ_FULL. Wakes no sleeper. */
NNB_PUBLIC int nnb_fmq_write(struct nnb_fmq *q, const void *src, size_t n);

/* Copy @n elements out. 0, NNB_FMQ_EMPTY or NNB_FMQ_OVERRUN. Wakes no sleeper. */
NNB_PUBLIC int nnb_fmq_read(struct nnb_fmq *q, void *dst, size_t n);

/* ---- in place: begin, fill or parse the regions, commit ---- */

struct nnb_fmq_region {
	void *base;
	size_t n; /* elements */
};

/* Elements of a transaction, in order: all of first, then all of second. */
struct nnb_fmq_tx {
	struct nnb_fmq_region first;
	struct nnb_fmq_region second; /* { NULL, 0 } unless the ring wraps inside */
	size_t elem_size;
};

/* Find room for @n elements. 0, or the conditions of write with *ret empty. A second begin discards the first. */
NNB_PUBLIC int nnb_fmq_begin_write(struct nnb_fmq *q, size_t n, struct nnb_fmq_tx *ret);

/* Publish the first @n elements of the transaction. 0, or -EINVAL if it has fewer. */
NNB_PUBLIC int nnb_fmq_commit_write(struct nnb_fmq *q, size_t n);

/* Find the next @n elements. 0, or the conditions of read with *ret empty. A second begin discards the first. */
NNB_PUBLIC int nnb_fmq_begin_read(struct nnb_fmq *q, size_t n, struct nnb_fmq_tx *ret);

/*
 * Release the first @n elements of the transaction to the writer. 0; -EINVAL if it has fewer; NNB_FMQ_OVERRUN: the
 * writer lapped this reader meanwhile, and the reader must discard what it read.
 */
NNB_PUBLIC int nnb_fmq_commit_read(struct nnb_fmq *q, size_t n);

/* Element @i of a transaction, or NULL beyond its end. */
NNB_PUBLIC void *nnb_fmq_tx_slot(const struct nnb_fmq_tx *tx, size_t i);

/* Copy @n elements into or out of a transaction, from its element @start. False, and nothing copied, for a
 * null buffer or a range beyond its end. */
NNB_PUBLIC bool nnb_fmq_tx_copy_to(const struct nnb_fmq_tx *tx, const void *src, size_t start, size_t n);
NNB_PUBLIC bool nnb_fmq_tx_copy_from(const struct nnb_fmq_tx *tx, void *dst, size_t start, size_t n);

/* ---- waiting: synchronized queues with an event flag; @timeout_ns 0 waits for ever ---- */

/* Like write and read, but wait for the peer, and wake it afterwards. Also: NNB_FMQ_TIMED_OUT. */
NNB_PUBLIC int nnb_fmq_write_blocking(struct nnb_fmq *q, const void *src, size_t n, uint64_t timeout_ns);
NNB_PUBLIC int nnb_fmq_read_blocking(struct nnb_fmq *q, void *dst, size_t n, uint64_t timeout_ns);

/*
 * The long forms: the caller's bits and, unless NULL, the caller's event flag. The writer waits for
 * @read_notification and wakes @write_notification; the reader the other way round. Waiting for a zero mask
 * is -EINVAL; waking a zero mask wakes no sleeper.
 */
NNB_PUBLIC int nnb_fmq_write_blocking_with(struct nnb_fmq *q, const void *src, size_t n, uint32_t read_notification,
                                           uint32_t write_notification, uint64_t timeout_ns,
                                           struct nnb_event_flag *flag);
NNB_PUBLIC int nnb_fmq_read_blocking_with(struct nnb_fmq *q, void *dst, size_t n, uint32_t read_notification,
                                          uint32_t write_notification, uint64_t timeout_ns,
                                          struct nnb_event_flag *flag);

/* In place: wait and begin; commit and wake the peer. */
NNB_PUBLIC int nnb_fmq_begin_write_blocking(struct nnb_fmq *q, size_t n, uint64_t timeout_ns, struct nnb_fmq_tx *ret);
NNB_PUBLIC int nnb_fmq_begin_read_blocking(struct nnb_fmq *q, size_t n, uint64_t timeout_ns, struct nnb_fmq_tx *ret);

/* Wait until there is an element, then begin to read all elements. */
NNB_PUBLIC int nnb_fmq_begin_receive(struct nnb_fmq *q, uint64_t timeout_ns, struct nnb_fmq_tx *ret);

NNB_PUBLIC int nnb_fmq_commit_write_and_wake(struct nnb_fmq *q, size_t n);
NNB_PUBLIC int nnb_fmq_commit_read_and_wake(struct nnb_fmq *q, size_t n);

/* How long one side of this handle has waited. */
struct nnb_fmq_waited {
	uint64_t spun_ns; /* precise to 0.2 us: the loop polls the peer several times for each reading of the clock */
	uint64_t slept_ns;
	uint64_t wakeups; /* returns from sleep, spurious ones included */
};

enum nnb_fmq_side {
	NNB_FMQ_WRITER,
	NNB_FMQ_READER,
};

/*
 * The waits of the side's last blocking call, and their sum over all calls; each may be NULL. Only for the thread of
 * that side.
 */
NNB_PUBLIC void nnb_fmq_waited(const struct nnb_fmq *q, enum nnb_fmq_side side, struct nnb_fmq_waited *ret_last,
                               struct nnb_fmq_waited *ret_total);

/* This handle's polling window in ns, AUTO resolved. */
NNB_PUBLIC uint64_t nnb_fmq_window(const struct nnb_fmq *q);

/*
 * The cost of waking a thread that sleeps on another cpu, in ns: from the wake until the thread runs, the median of
 * several tries; 0 on a machine with one cpu. The first call in a process measures it (this takes some milliseconds and
 * two short-lived threads, on cpus of the process's cpuset and regardless of the caller's affinity); later calls return
 * the same value.
 */
NNB_PUBLIC uint64_t nnb_fmq_wake_cost(void);

NNB_END_DECLS

#endif
