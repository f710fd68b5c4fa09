/*
 * fmq.c -- the protocol of the fast message queue. region.c makes the memory that it uses.
 *
 * LAYOUT    A read counter, a write counter, a ring; perhaps an event flag and a waiting room (queue.h).
 *           Counters are bytes ever read and written; both run free, unread = write - read, a position is a
 *           counter modulo the ring's size. So every byte of the ring is usable, whatever its size.
 * CONCURRENCY  X: callers serialise the pair. -: any interleaving. One handle; other handles are free.
 *                        write read free
 *              write      X     -    X     write: begin/commit_write, write*, waited(WRITER)
 *              read       -     X    X     read:  begin/commit_read, read*, waited(READER), and available_to_read
 *              free       X     X    X            of an unsynchronized queue
 *           All other functions exclude free only. available_* loads two counters, which is no snapshot: while both
 *           sides move, a third thread may get 0.
 * ORDERING  Synchronized:
 *           (1) commit_write: fill, then store the write counter, release --- pairs with (2)
 *           (2) begin_read: load the write counter, acquire, then parse   => whole elements
 *           (3) commit_read: parse, then store the read counter, release  --- pairs with (4)
 *           (4) begin_write: load the read counter, acquire, then fill    => nothing unread is overwritten
 *           A side's own counter: relaxed, because no other thread writes it. The peer's counter is loaded again only
 *           if the last value does not suffice, so that its cache line stays with the peer. The writer loads the
 *           shared copy of its own counter at its first write only (find_room). Unsynchronized: the writer does not
 *           wait, so a reader must detect overruns. It copies, then checks:
 *           (5) begin_write: store reach, release fence, then fill        --- pairs with (6)
 *           (6) commit_read: copied, acquire fence, then load reach       => a reader that copied a byte of
 *               the new lap finds reach beyond its own position by more than the ring, and discards the copy.
 *           The write counter alone (libfmq) shows only completed fills: a reader could accept a torn element from one
 *           under way. Copies are relaxed atomics in this flavour, because they race by design.
 *           Sleeping: commit, then signal (event_flag.c 3); arm (4), then check again, then sleep. Shutting (region.c)
 *           stores shut and then changes the armed word, so that a sleeper finds one or the other.
 *           nnb__fmq_send compares a message with the bytes at its place, where (4) allows it to write, and writes it
 *           only if they differ. Equal bytes were published a lap before, so the reader that finds the new counter (2)
 *           sees them. A hostile peer may change them in between, and then reads what it wrote itself.
 * PROGRESS  Without waiting: wait-free, no loop, lock, system call or allocation. Waiting: polls for the
 *           window, then sleeps. It does not poll if the peer was last seen on the same cpu, because polling
 *           would keep the peer from running. Signalling makes a system call only if a thread sleeps.
 * CRASH     A writer that dies before (1) has published nothing; a reader that dies before (3) has consumed nothing.
 *           If a writer dies between (5) and (1), readers treat the elements that it was about to overwrite as lost,
 *           and the next writer keeps it so until it has written them itself.
 * TRUST     Counters are loaded once into a local variable and checked. The ring's address, its size and the position
 *           in it are in process memory, so that no value of a counter leads outside the ring. Corrupt counters are
 *           -EBADMSG.
 */
#include "nnb/fmq.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/saturating.h"
#include "base/sys.h"
#include "queue.h"

enum {
	CACHE_LINE = 64,
	EXPECTED_MAX = 8 * CACHE_LINE /* the rest of a longer message arrives while the first part is written */
};
enum { LOOKS = 8 }; /* polls of the peer's counter for each reading of the clock: some 200 ns, the error of spun_ns */

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- counters ---- */

static inline bool counter_misaligned(const struct nnb_fmq *q, uint64_t counter)
{
	return q->elem_pow2 ? counter & (q->elem_size - 1) : counter % q->elem_size;
}

/*
 * The whole elements in the bytes between two counters, at most a ring's. Multiplies where possible, because a received
 * message waits for the result, and a division takes several times as long.
 */
static inline uint32_t whole_elements(const struct nnb_fmq *q, uint32_t bytes)
{
#ifdef __SIZEOF_INT128__
	return q->elem_inverse ? (uint32_t)((unsigned __int128)q->elem_inverse * bytes >> 64) : bytes;
#else
	return bytes / (uint32_t)q->elem_size;
#endif
}

/* Like counter_misaligned, for the same bytes. */
static inline bool bytes_misaligned(const struct nnb_fmq *q, uint32_t bytes)
{
	return q->elem_pow2 ? bytes & (uint32_t)(q->elem_size - 1)
	                    : whole_elements(q, bytes) * (uint32_t)q->elem_size != bytes;
}

/* Could an honest pair of parties have left these counters? */
static inline bool counters_possible(const struct nnb_fmq *q, uint64_t wr, uint64_t rd)
{
	return wr - rd <= q->ring_bytes && !counter_misaligned(q, wr) && !counter_misaligned(q, rd);
}

static inline void ring_place(struct nnb_fmq *q, struct nnb_fmq_end *e, uint64_t mine)
{
	e->mine = mine;
	e->at = mine % q->ring_bytes;
}

static inline void counter_advance(struct nnb_fmq *q, struct nnb_fmq_end *e, size_t bytes)
{
	e->mine += bytes;
	e->at += bytes;
	if (e->at >= q->ring_bytes)
		e->at -= q->ring_bytes;
	assert(e->at < q->ring_bytes);
}

/*
 * The part of room_for that needs the shared counters. Once the writer has begun, it alone changes its counter:
 * loading the shared copy for every write would fetch the cache line back from a polling reader, which doubles a
 * round trip.
 */
static __attribute__((noinline)) int find_room(struct nnb_fmq *q, size_t bytes)
{
	struct nnb_fmq_end *w = &q->end[NNB_FMQ_WRITER];
	uint64_t mine = w->settled ? w->mine : atomic_load_explicit(q->wr, memory_order_relaxed);
	uint64_t theirs = mine;

	if (q->synchronized)
		theirs = atomic_load_explicit(q->rd, memory_order_acquire); /* (4) */
	if (!counters_possible(q, mine, theirs))
		return -EBADMSG;
	if (!q->synchronized && q->room)
		theirs = atomic_load_explicit(&q->room->reach,
		                              memory_order_relaxed); /* a writer before us may have died */
	if (!w->settled)
		ring_place(q, w, mine);
	w->settled = true;
	w->theirs = theirs;
	return !q->synchronized || q->ring_bytes - (mine - theirs) >= bytes ? 0 : NNB_FMQ_FULL;
}

/* Is there room for @n <= capacity elements? 0, NNB_FMQ_FULL or -EBADMSG. */
static inline int room_for(struct nnb_fmq *q, size_t n)
{
	struct nnb_fmq_end *w = &q->end[NNB_FMQ_WRITER];
	size_t bytes = n * q->elem_size;

	if (likely(w->settled && (!q->synchronized || q->ring_bytes - (w->mine - w->theirs) >= bytes)))
		return 0;
	return find_room(q, bytes);
}

/* The writer is more than a ring ahead. Drop everything, as the HAL's queue does in both flavours. */
static __attribute__((noinline)) int reader_resync(struct nnb_fmq *q, uint64_t wr)
{
	struct nnb_fmq_end *r = &q->end[NNB_FMQ_READER];

	if (counter_misaligned(q, wr))
		return -EBADMSG;
	ring_place(q, r, wr);
	r->theirs = wr;
	if (!q->synchronized)
		return NNB_FMQ_OVERRUN;
	atomic_store_explicit(q->rd, wr, memory_order_release); /* a writer that reads this one pairs as with (3) */
	return -EBADMSG;
}

/* Are @n <= capacity elements there? 0, NNB_FMQ_EMPTY, NNB_FMQ_OVERRUN or -EBADMSG. */
static inline int data_for(struct nnb_fmq *q, size_t n)
{
	struct nnb_fmq_end *r = &q->end[NNB_FMQ_READER];
	uint64_t mine = q->synchronized ? atomic_load_explicit(q->rd, memory_order_relaxed) : r->mine;
	size_t bytes = n * q->elem_size;
	bool moved = mine != r->mine;
	uint64_t theirs;

	if (likely(q->synchronized && !moved && r->theirs - mine >= bytes))
		return 0;
	theirs = atomic_load_explicit(q->wr, memory_order_acquire); /* (2) */
	if (unlikely(moved && counter_misaligned(q, mine)))
		return -EBADMSG;
	if (unlikely(theirs - mine > q->ring_bytes))
		return reader_resync(q, theirs);
	if (unlikely(bytes_misaligned(q, (uint32_t)(theirs - mine))))
		return -EBADMSG;
	if (moved)
		ring_place(q, r, mine);
	r->theirs = theirs;
	return theirs - mine >= bytes ? 0 : NNB_FMQ_EMPTY;
}

static inline int side_ready(struct nnb_fmq *q, enum nnb_fmq_side side, size_t n)
{
	return side == NNB_FMQ_WRITER ? room_for(q, n) : data_for(q, n);
}

size_t nnb_fmq_available_to_write(const struct nnb_fmq *q)
{
	uint64_t rd = atomic_load_explicit(q->rd, memory_order_relaxed);
	uint64_t wr = atomic_load_explicit(q->wr, memory_order_relaxed);

	return counters_possible(q, wr, rd) ? (q->ring_bytes - (wr - rd)) / q->elem_size : 0;
}

size_t nnb_fmq_available_to_read(const struct nnb_fmq *q)
{
	uint64_t wr = atomic_load_explicit(q->wr, memory_order_relaxed);
	uint64_t rd = q->synchronized ? atomic_load_explicit(q->rd, memory_order_relaxed) : q->end[NNB_FMQ_READER].mine;

	if (q->synchronized ? !counters_possible(q, wr, rd) : wr < rd)
		return 0;
	return (wr - rd) / q->elem_size;
}

/* ---- transactions ---- */

static size_t before_the_wrap(const struct nnb_fmq *q, size_t at, size_t bytes)
{
	assert(at < q->ring_bytes && bytes <= q->ring_bytes);
	return bytes < q->ring_bytes - at ? bytes : q->ring_bytes - at;
}

/* The @n > 0 elements from the side's position on, as one or two regions. */
static inline void lay_out(const struct nnb_fmq *q, const struct nnb_fmq_end *e, size_t n, struct nnb_fmq_tx *ret)
{
	size_t to_end = q->ring_bytes - e->at, first;

	*ret = (struct nnb_fmq_tx){ .first = { q->ring + e->at, n }, .elem_size = q->elem_size };
	if (likely(n * q->elem_size <= to_end))
		return;
	first = to_end / q->elem_size;
	assert(first < n && n <= q->capacity);
	ret->first.n = first;
	ret->second = (struct nnb_fmq_region){ q->ring, n - first };
}

/* Open a transaction of the @n elements that are @ready for the side, or leave it empty. Returns @ready. */
static inline int open_tx(struct nnb_fmq *q, enum nnb_fmq_side side, size_t n, int ready, struct nnb_fmq_tx *ret)
{
	struct nnb_fmq_end *e = &q->end[side];

	if (unlikely(ready || !n)) {
		e->begun = 0;
		*ret = (struct nnb_fmq_tx){ .elem_size = q->elem_size };
		return ready;
	}
	e->begun = n;
	lay_out(q, e, n, ret);
	return 0;
}

/* Announce to unsynchronized readers how far the writer is about to overwrite, or a dead predecessor may have. */
static inline void reach_announce(struct nnb_fmq *q, size_t n)
{
	const struct nnb_fmq_end *w = &q->end[NNB_FMQ_WRITER];
	uint64_t reach = w->mine + n * q->elem_size;

	if (likely(q->synchronized) || !q->room)
		return;
	if (unlikely(w->theirs - reach <= q->ring_bytes))
		reach = w->theirs;
	atomic_store_explicit(&q->room->reach, reach, memory_order_relaxed);
	atomic_thread_fence(memory_order_release); /* (5) */
}

static inline int may_write(struct nnb_fmq *q, size_t n)
{
	if (unlikely(q->read_only))
		return -EACCES;
	return unlikely(n > q->capacity) ? -EMSGSIZE : room_for(q, n);
}

static inline int may_read(struct nnb_fmq *q, size_t n)
{
	return unlikely(n > q->capacity) ? -EMSGSIZE : data_for(q, n);
}

#ifndef NBT_OFF

/* About to publish @n elements: every function that writes comes here, so that no write is silent. */
static __attribute__((noinline, cold)) void write_emit(const struct nnb_fmq *q, size_t n)
{
	const struct nnb_fmq_end *w = &q->end[NNB_FMQ_WRITER];
	uint64_t used = q->synchronized ? w->mine - atomic_load_explicit(q->rd, memory_order_relaxed) : 0;

	NBT(fmq_write, .exec = w->exec, .queue = q->kind, .items = (uint32_t)n,
	    .used = used <= q->ring_bytes ? (uint32_t)(used / q->elem_size) : 0,
	    .blocked_ns = w->blocked_at == w->mine ? w->blocked_ns : 0, .fmq = q->number);
}

/* The writer waited for room, perhaps not for the first time at this position. */
static void note_blocked(struct nnb_fmq_end *w)
{
	if (w->blocked_at != w->mine)
		w->blocked_ns = 0;
	w->blocked_at = w->mine;
	w->blocked_ns += w->last.spun_ns + w->last.slept_ns;
}

#else

static inline void write_emit(const struct nnb_fmq *q, size_t n)
{
	(void)q, (void)n;
}

static inline void note_blocked(struct nnb_fmq_end *w)
{
	(void)w;
}

#endif

/* The @n elements at the writer's position are filled. */
static inline void counter_publish(struct nnb_fmq *q, size_t n)
{
	struct nnb_fmq_end *w = &q->end[NNB_FMQ_WRITER];

	w->begun = 0;
	if (unlikely(!n))
		return;
	assert(!q->read_only);
	if (nbt_on(NBT_EVENT_fmq_write))
		write_emit(q, n);
	counter_advance(q, w, n * q->elem_size);
	atomic_store_explicit(q->wr, w->mine, memory_order_release); /* (1) */
}

static void fetch_to_write(const unsigned char *from, size_t bytes)
{
	const unsigned char *end = from + bytes;

	for (from -= (uintptr_t)from % CACHE_LINE; from < end; from += CACHE_LINE)
		nnb__fetch_to_write(from);
}

void nnb__fmq_expects_write(const struct nnb_fmq *q)
{
	const struct nnb_fmq_end *w = &q->end[NNB_FMQ_WRITER];
	size_t bytes = w->wrote < EXPECTED_MAX ? w->wrote : EXPECTED_MAX, first;

	if (!bytes)
		return;
	first = before_the_wrap(q, w->at, bytes);
	fetch_to_write(q->ring + w->at, first);
	fetch_to_write(q->ring, bytes - first);
}

static void hand_over(const unsigned char *from, size_t bytes)
{
	const unsigned char *end = from + (bytes < EXPECTED_MAX ? bytes : EXPECTED_MAX);

	for (from -= (uintptr_t)from % CACHE_LINE; from < end; from += CACHE_LINE)
		nnb__hand_over(from);
}

int nnb_fmq_begin_write(struct nnb_fmq *q, size_t n, struct nnb_fmq_tx *ret)
{
	int r = open_tx(q, NNB_FMQ_WRITER, n, may_write(q, n), ret);

	if (!r)
		reach_announce(q, n);
	return r;
}

int nnb_fmq_commit_write(struct nnb_fmq *q, size_t n)
{
	if (n > q->end[NNB_FMQ_WRITER].begun)
		return -EINVAL;
	counter_publish(q, n);
	return 0;
}

int nnb_fmq_begin_read(struct nnb_fmq *q, size_t n, struct nnb_fmq_tx *ret)
{
	return open_tx(q, NNB_FMQ_READER, n, may_read(q, n), ret);
}

/* Has the unsynchronized writer begun to overwrite what lies at the reader's position? */
static bool reader_lapped(const struct nnb_fmq *q, const struct nnb_fmq_end *r)
{
	uint64_t reach;

	atomic_thread_fence(memory_order_acquire); /* (6) */
	reach = atomic_load_explicit(q->room ? &q->room->reach : q->wr, memory_order_relaxed);
	return reach - r->mine > q->ring_bytes;
}

/* The @n elements at the reader's position have been read. 0 or NNB_FMQ_OVERRUN. */
static inline int reader_release(struct nnb_fmq *q, size_t n)
{
	struct nnb_fmq_end *r = &q->end[NNB_FMQ_READER];

	r->begun = 0;
	assert(n <= q->capacity);
	if (unlikely(!q->synchronized)) {
		if (n && reader_lapped(q, r))
			return reader_resync(q, atomic_load_explicit(q->wr, memory_order_relaxed));
		counter_advance(q, r, n * q->elem_size);
		return 0;
	}
	counter_advance(q, r, n * q->elem_size);
	atomic_store_explicit(q->rd, r->mine, memory_order_release); /* (3) */
	return 0;
}

int nnb_fmq_commit_read(struct nnb_fmq *q, size_t n)
{
	return n > q->end[NNB_FMQ_READER].begun ? -EINVAL : reader_release(q, n);
}

void *nnb_fmq_tx_slot(const struct nnb_fmq_tx *tx, size_t i)
{
	if (i < tx->first.n)
		return (unsigned char *)tx->first.base + i * tx->elem_size;
	i -= tx->first.n;
	if (i < tx->second.n)
		return (unsigned char *)tx->second.base + i * tx->elem_size;
	return NULL;
}

/* ---- copies ---- */

static void racing_store(void *ring, const void *src, size_t bytes)
{
	unsigned char *to = ring;
	const unsigned char *from = src;
	uint64_t word;

	for (; bytes && ((uintptr_t)to % sizeof(word) || bytes < sizeof(word)); bytes--)
		atomic_store_explicit((_Atomic unsigned char *)to++, *from++, memory_order_relaxed);
	for (; bytes >= sizeof(word); bytes -= sizeof(word), to += sizeof(word), from += sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		atomic_store_explicit((_Atomic uint64_t *)(void *)to, word, memory_order_relaxed);
	}
	for (; bytes; bytes--)
		atomic_store_explicit((_Atomic unsigned char *)to++, *from++, memory_order_relaxed);
}

static void racing_load(void *dst, const void *ring, size_t bytes)
{
	unsigned char *to = dst;
	const unsigned char *from = ring;
	uint64_t word;

	for (; bytes && ((uintptr_t)from % sizeof(word) || bytes < sizeof(word)); bytes--)
		*to++ = atomic_load_explicit((_Atomic unsigned char *)from++, memory_order_relaxed);
	for (; bytes >= sizeof(word); bytes -= sizeof(word), to += sizeof(word), from += sizeof(word)) {
		word = atomic_load_explicit((_Atomic uint64_t *)(void *)from, memory_order_relaxed);
		memcpy(to, &word, sizeof(word));
	}
	for (; bytes; bytes--)
		*to++ = atomic_load_explicit((_Atomic unsigned char *)from++, memory_order_relaxed);
}

static __attribute__((noinline)) void put_slowly(struct nnb_fmq *q, size_t at, const unsigned char *src, size_t bytes)
{
	size_t first = before_the_wrap(q, at, bytes);

	if (q->synchronized) {
		memcpy(q->ring + at, src, first);
		memcpy(q->ring, src + first, bytes - first);
	} else {
		racing_store(q->ring + at, src, first);
		racing_store(q->ring, src + first, bytes - first);
	}
}

static __attribute__((noinline)) void get_slowly(struct nnb_fmq *q, size_t at, unsigned char *dst, size_t bytes)
{
	size_t first = before_the_wrap(q, at, bytes);

	if (q->synchronized) {
		memcpy(dst, q->ring + at, first);
		memcpy(dst + first, q->ring, bytes - first);
	} else {
		racing_load(dst, q->ring + at, first);
		racing_load(dst + first, q->ring, bytes - first);
	}
}

/* Copy @n elements in at the writer's position, where there is room for them, and publish them. */
static inline void ring_put(struct nnb_fmq *q, const void *src, size_t n)
{
	size_t at = q->end[NNB_FMQ_WRITER].at;
	size_t bytes = n * q->elem_size;

	reach_announce(q, n);
	if (likely(q->synchronized && bytes <= q->ring_bytes - at && n))
		memcpy(q->ring + at, src, bytes);
	else if (n)
		put_slowly(q, at, src, bytes);
	counter_publish(q, n);
}

/* Copy the @n elements at the reader's position out, and give them back. */
static inline int ring_get(struct nnb_fmq *q, void *dst, size_t n)
{
	size_t at = q->end[NNB_FMQ_READER].at;
	size_t bytes = n * q->elem_size;

	if (likely(q->synchronized && bytes <= q->ring_bytes - at && n))
		memcpy(dst, q->ring + at, bytes);
	else if (n)
		get_slowly(q, at, dst, bytes);
	return reader_release(q, n);
}

int nnb_fmq_write(struct nnb_fmq *q, const void *src, size_t n)
{
	int r = may_write(q, n);

	if (likely(!r))
		ring_put(q, src, n);
	return r;
}

int nnb_fmq_read(struct nnb_fmq *q, void *dst, size_t n)
{
	int r = may_read(q, n);

	return likely(!r) ? ring_get(q, dst, n) : r;
}

/* How many of the @n elements from @start on lie in the first region. False if some lie in neither. */
static bool tx_split(const struct nnb_fmq_tx *tx, size_t start, size_t n, size_t *ret)
{
	size_t total = tx->first.n + tx->second.n;
	size_t left = start < tx->first.n ? tx->first.n - start : 0;

	*ret = left < n ? left : n;
	return start <= total && n <= total - start;
}

bool nnb_fmq_tx_copy_to(const struct nnb_fmq_tx *tx, const void *src, size_t start, size_t n)
{
	size_t first;

	if (!src || !tx_split(tx, start, n, &first))
		return false;
	if (first)
		memcpy(nnb_fmq_tx_slot(tx, start), src, first * tx->elem_size);
	if (first < n)
		memcpy(nnb_fmq_tx_slot(tx, start + first), (const unsigned char *)src + first * tx->elem_size,
		       (n - first) * tx->elem_size);
	return true;
}

bool nnb_fmq_tx_copy_from(const struct nnb_fmq_tx *tx, void *dst, size_t start, size_t n)
{
	size_t first;

	if (!dst || !tx_split(tx, start, n, &first))
		return false;
	if (first)
		memcpy(dst, nnb_fmq_tx_slot(tx, start), first * tx->elem_size);
	if (first < n)
		memcpy((unsigned char *)dst + first * tx->elem_size, nnb_fmq_tx_slot(tx, start + first),
		       (n - first) * tx->elem_size);
	return true;
}

/* ---- waiting ---- */

/* Publish the cpu that this side runs on, if it has changed. Returns the cpu + 1. */
static inline uint32_t publish_cpu(struct nnb_fmq *q, enum nnb_fmq_side side)
{
	struct nnb_fmq_end *e = &q->end[side];
	uint32_t cpu = nnb__cpu() + 1;

	if (unlikely(cpu != e->cpu)) {
		e->cpu = cpu;
		if (q->room)
			atomic_store_explicit(&q->room->cpu[side], cpu, memory_order_relaxed);
	}
	return cpu;
}

static inline bool is_shut(const struct nnb_fmq *q)
{
	return __atomic_load_n(&q->shut, __ATOMIC_RELAXED); /* in process memory: not part of the protocol */
}

/* Polling on the peer's cpu keeps it from running, and so from answering. */
static bool peer_needs_this_cpu(struct nnb_fmq *q, enum nnb_fmq_side side)
{
	uint32_t mine = publish_cpu(q, side);

	return q->room && atomic_load_explicit(&q->room->cpu[!side], memory_order_relaxed) == mine;
}

/* Has the peer's counter moved? Looks a few times. */
static inline bool poll_once(const _Atomic uint64_t *theirs, uint64_t seen)
{
	for (int i = 0; i < LOOKS; i++) {
		if (atomic_load_explicit(theirs, memory_order_relaxed) != seen)
			return true;
		nnb__relax();
	}
	return false;
}

/* Poll for @n elements until @end. As side_ready(). */
static int poll_until(struct nnb_fmq *q, enum nnb_fmq_side side, size_t n, uint64_t start, uint64_t end)
{
	struct nnb_fmq_end *e = &q->end[side];
	const _Atomic uint64_t *theirs = side == NNB_FMQ_WRITER ? q->rd : q->wr;
	uint64_t t = start;
	int r = 1;

	/* The clock is read before some looks, not after: so the moment of success is known without reading it again,
	 * a few looks too early. */
	while (t < end && !is_shut(q) && !peer_needs_this_cpu(q, side)) {
		t = nnb__now();
		if (!poll_once(theirs, e->theirs))
			continue;
		r = side_ready(q, side, n);
		if (r <= 0)
			break;
	}
	e->last.spun_ns = t - start;
	return r;
}

/* Sleep until @n elements are ready or the deadline has passed. As side_ready(), or NNB_FMQ_TIMED_OUT. */
static int sleep_until(struct nnb_fmq *q, enum nnb_fmq_side side, size_t n, struct nnb_event_flag *flag, uint32_t mask,
                       uint64_t start, uint64_t deadline)
{
	struct nnb_fmq_end *e = &q->end[side];
	uint64_t now = start;
	uint32_t seen;
	int slept;
	int r;

	for (;;) {
		seen = nnb__flag_arm(flag, mask);
		r = side_ready(q, side, n);
		if (r <= 0)
			break;
		if (now >= deadline || is_shut(q)) {
			r = is_shut(q) ? -ESHUTDOWN : NNB_FMQ_TIMED_OUT;
			break;
		}
		slept = nnb__flag_sleep(flag, seen, mask, deadline);
		now = nnb__now();
		e->last.wakeups += slept != -EAGAIN;
		publish_cpu(q, side);
		r = side_ready(q, side, n);
		if (r <= 0)
			break;
		if (slept && slept != -EAGAIN && slept != -EINTR && slept != -ETIMEDOUT) {
			r = slept;
			break;
		}
	}
	nnb__flag_disarm(flag, mask);
	e->last.slept_ns = now - start;
	return r;
}

/* The slow path of wait_ready: poll, then sleep. */
static __attribute__((noinline)) int wait_slowly(struct nnb_fmq *q, enum nnb_fmq_side side, size_t n,
                                                 struct nnb_event_flag *flag, uint32_t mask, uint64_t timeout_ns)
{
	struct nnb_fmq_end *e = &q->end[side];
	uint64_t start = nnb__now();
	uint64_t deadline = timeout_ns ? nnb__saturating_sum(start, timeout_ns) : UINT64_MAX;
	uint64_t window_end = nnb__saturating_sum(start, q->window_ns == NNB_FMQ_WINDOW_NONE ? 0 : q->window_ns);
	int r;

	assert(q->synchronized && flag && mask && n <= q->capacity);
	r = poll_until(q, side, n, start, window_end < deadline ? window_end : deadline);
	if (r > 0 && side == NNB_FMQ_READER && q->before_sleep)
		q->before_sleep(q->before_sleep_arg);
	if (r > 0)
		r = sleep_until(q, side, n, flag, mask, start + e->last.spun_ns, deadline);
	e->total.spun_ns += e->last.spun_ns;
	e->total.slept_ns += e->last.slept_ns;
	e->total.wakeups += e->last.wakeups;
	if (side == NNB_FMQ_WRITER)
		note_blocked(e);
	return r;
}

/* Wait until @n elements are ready for the side. 0, NNB_FMQ_TIMED_OUT or -errno. */
static inline int wait_ready(struct nnb_fmq *q, enum nnb_fmq_side side, size_t n, struct nnb_event_flag *flag,
                             uint32_t mask, uint64_t timeout_ns)
{
	int r;

	if (unlikely(!q->synchronized || !flag))
		return -EOPNOTSUPP;
	if (unlikely(!mask))
		return -EINVAL;
	if (unlikely(n > q->capacity))
		return -EMSGSIZE;
	publish_cpu(q, side);
	q->end[side].last = (struct nnb_fmq_waited){ 0 };
	r = side_ready(q, side, n);
	return r > 0 ? wait_slowly(q, side, n, flag, mask, timeout_ns) : r;
}

static inline struct nnb_event_flag *own_flag(struct nnb_fmq *q)
{
	return q->has_flag ? &q->flag : NULL;
}

static inline int write_blocking(struct nnb_fmq *q, const void *src, size_t n, uint32_t wait_for, uint32_t wake,
                                 uint64_t timeout_ns, struct nnb_event_flag *flag)
{
	int r = wait_ready(q, NNB_FMQ_WRITER, n, flag, wait_for, timeout_ns);

	if (unlikely(r))
		return r;
	ring_put(q, src, n);
	nnb__flag_signal(flag, wake);
	return 0;
}

static inline int read_blocking(struct nnb_fmq *q, void *dst, size_t n, uint32_t wait_for, uint32_t wake,
                                uint64_t timeout_ns, struct nnb_event_flag *flag)
{
	int r = wait_ready(q, NNB_FMQ_READER, n, flag, wait_for, timeout_ns);

	if (unlikely(r))
		return r;
	ring_get(q, dst, n);
	nnb__flag_signal(flag, wake);
	return 0;
}

int nnb_fmq_write_blocking_with(struct nnb_fmq *q, const void *src, size_t n, uint32_t read_notification,
                                uint32_t write_notification, uint64_t timeout_ns, struct nnb_event_flag *flag)
{
	return write_blocking(q, src, n, read_notification, write_notification, timeout_ns, flag ? flag : own_flag(q));
}

int nnb_fmq_read_blocking_with(struct nnb_fmq *q, void *dst, size_t n, uint32_t read_notification,
                               uint32_t write_notification, uint64_t timeout_ns, struct nnb_event_flag *flag)
{
	return read_blocking(q, dst, n, write_notification, read_notification, timeout_ns, flag ? flag : own_flag(q));
}

int nnb_fmq_write_blocking(struct nnb_fmq *q, const void *src, size_t n, uint64_t timeout_ns)
{
	return write_blocking(q, src, n, NNB_FMQ_NOT_FULL, NNB_FMQ_NOT_EMPTY, timeout_ns, own_flag(q));
}

int nnb_fmq_read_blocking(struct nnb_fmq *q, void *dst, size_t n, uint64_t timeout_ns)
{
	return read_blocking(q, dst, n, NNB_FMQ_NOT_EMPTY, NNB_FMQ_NOT_FULL, timeout_ns, own_flag(q));
}

int nnb_fmq_begin_write_blocking(struct nnb_fmq *q, size_t n, uint64_t timeout_ns, struct nnb_fmq_tx *ret)
{
	int r = wait_ready(q, NNB_FMQ_WRITER, n, own_flag(q), NNB_FMQ_NOT_FULL, timeout_ns);

	return open_tx(q, NNB_FMQ_WRITER, n, r, ret);
}

int nnb_fmq_begin_read_blocking(struct nnb_fmq *q, size_t n, uint64_t timeout_ns, struct nnb_fmq_tx *ret)
{
	int r = wait_ready(q, NNB_FMQ_READER, n, own_flag(q), NNB_FMQ_NOT_EMPTY, timeout_ns);

	return open_tx(q, NNB_FMQ_READER, n, r, ret);
}

int nnb__fmq_await(struct nnb_fmq *q, uint64_t timeout_ns)
{
	return wait_ready(q, NNB_FMQ_READER, 1, own_flag(q), NNB_FMQ_NOT_EMPTY, timeout_ns);
}

int nnb__fmq_open(struct nnb_fmq *q, int ready, struct nnb_fmq_tx *ret)
{
	struct nnb_fmq_end *e = &q->end[NNB_FMQ_READER];

	return open_tx(q, NNB_FMQ_READER, ready ? 0 : whole_elements(q, (uint32_t)(e->theirs - e->mine)), ready, ret);
}

void nnb__fmq_drop(struct nnb_fmq *q, size_t n)
{
	assert(q->synchronized && n * q->elem_size <= q->end[NNB_FMQ_READER].theirs - q->end[NNB_FMQ_READER].mine);
	reader_release(q, n);
}

int nnb_fmq_begin_receive(struct nnb_fmq *q, uint64_t timeout_ns, struct nnb_fmq_tx *ret)
{
	return nnb__fmq_open(q, nnb__fmq_await(q, timeout_ns), ret);
}

static inline void message_publish(struct nnb_fmq *q, size_t n)
{
	counter_publish(q, n);
	/* A receiver that waits for the next message must not poll on this cpu. Afterwards, because this one is waited
	 * for already. */
	publish_cpu(q, NNB_FMQ_WRITER);
	nnb__flag_signal(&q->flag, NNB_FMQ_NOT_EMPTY);
}

int nnb_fmq_commit_write_and_wake(struct nnb_fmq *q, size_t n)
{
	if (!q->synchronized || !q->has_flag)
		return -EOPNOTSUPP;
	if (n > q->end[NNB_FMQ_WRITER].begun)
		return -EINVAL;
	message_publish(q, n);
	return 0;
}

/* Write a message at the writer's position that differs from the bytes there. */
static __attribute__((noinline)) void message_put(struct nnb_fmq *q, const unsigned char *message, size_t bytes)
{
	struct nnb_fmq_end *w = &q->end[NNB_FMQ_WRITER];
	size_t first = before_the_wrap(q, w->at, bytes);

	memcpy(q->ring + w->at, message, first);
	memcpy(q->ring, message + first, bytes - first);
	hand_over(q->ring + w->at, first);
	hand_over(q->ring, bytes - first);
	w->wrote = (uint32_t)bytes;
}

int nnb__fmq_room_for(struct nnb_fmq *q, size_t n)
{
	return may_write(q, n);
}

void nnb__fmq_send(struct nnb_fmq *q, const void *message, size_t n)
{
	struct nnb_fmq_end *w = &q->end[NNB_FMQ_WRITER];
	size_t bytes = n * q->elem_size;

	assert(q->synchronized && q->has_flag && bytes <= q->ring_bytes - (w->mine - w->theirs));
	if (likely(bytes <= q->ring_bytes - w->at && !memcmp(q->ring + w->at, message, bytes)))
		w->wrote = 0;
	else
		message_put(q, message, bytes);
	message_publish(q, n);
}

int nnb_fmq_commit_read_and_wake(struct nnb_fmq *q, size_t n)
{
	if (!q->synchronized || !q->has_flag)
		return -EOPNOTSUPP;
	if (n > q->end[NNB_FMQ_READER].begun)
		return -EINVAL;
	reader_release(q, n);
	nnb__flag_signal(&q->flag, NNB_FMQ_NOT_FULL);
	return 0;
}

/* ---- what it is ---- */

size_t nnb_fmq_capacity(const struct nnb_fmq *q)
{
	return q->capacity;
}

size_t nnb_fmq_elem_size(const struct nnb_fmq *q)
{
	return q->elem_size;
}

enum nnb_fmq_flavour nnb_fmq_flavour(const struct nnb_fmq *q)
{
	return q->synchronized ? NNB_FMQ_SYNCHRONIZED : NNB_FMQ_UNSYNCHRONIZED;
}

struct nnb_event_flag *nnb_fmq_event_flag(struct nnb_fmq *q)
{
	return own_flag(q);
}

uint64_t nnb_fmq_window(const struct nnb_fmq *q)
{
	return q->window_ns;
}

void nnb_fmq_waited(const struct nnb_fmq *q, enum nnb_fmq_side side, struct nnb_fmq_waited *ret_last,
                    struct nnb_fmq_waited *ret_total)
{
	if (ret_last)
		*ret_last = q->end[side].last;
	if (ret_total)
		*ret_total = q->end[side].total;
}
