/*
 * ring.h -- batches of records from one thread to another, in order, a few at a time.
 *
 * CONCURRENCY  One thread fills, one empties. A batch belongs to one of them or to the queue, never to both.
 *              The lock is taken once for each batch, and orders its contents.
 * ORDERING     A mutex, and a condition for each side. All state is read and written under the lock.
 * STOP         bsa_ring_close, from the emptying side: from then on the filling side gets an error, and so
 *              ends by itself. Batches left in the queue are freed with the queue.
 */
#ifndef BSA_DECODE_RING_H
#define BSA_DECODE_RING_H

#include "bsa/err.h"
#include "catalogue.h"
#include "fold/event.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record in a batch, and whose it is where times are equal: the stream's place among all. */
struct bsa_queued {
	uint64_t rank;
	struct bsa_event event;
};

enum { BSA_BATCH = 128 << 10, BSA_BATCHES = 8 };

struct bsa_batch {
	size_t bytes; /* bytes of its records */
	uint64_t data[(BSA_BATCH - sizeof(size_t)) / 8];
};

/* Room for a record of any size behind those of a batch. NULL: the batch is full. */
static inline struct bsa_queued *bsa_batch_room(struct bsa_batch *batch)
{
	const size_t largest = offsetof(struct bsa_queued, event) + BSA_RECORD_MAX;

	if (batch->bytes > sizeof(batch->data) - largest)
		return NULL;
	return (struct bsa_queued *)((char *)batch->data + batch->bytes);
}

/* Add the record that was written there. */
static inline void bsa_batch_add(struct bsa_batch *batch, const struct bsa_queued *q)
{
	batch->bytes += offsetof(struct bsa_queued, event) + q->event.size;
}

/* The record that begins @at bytes into the batch. The caller knows that there is one. */
static inline const struct bsa_queued *bsa_queued_at(const struct bsa_batch *batch, size_t at)
{
	return (const struct bsa_queued *)((const char *)batch->data + at);
}

/* Return that record, and move *@at behind it: to the next record, or to the end of the batch. */
static inline const struct bsa_queued *bsa_queued_next(const struct bsa_batch *batch, size_t *at)
{
	const struct bsa_queued *q = bsa_queued_at(batch, *at);

	*at += offsetof(struct bsa_queued, event) + q->event.size;
	return q;
}

struct bsa_ring {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct bsa_batch *batches[BSA_BATCHES];
	size_t head, tail; /* batches ever given back, ever filled */
	bool ended, closed;
	int code; /* how it ended */
	struct bsa_err err;
};

/* 0; BSA_E_ENV. */
int bsa_ring_init(struct bsa_ring *q, struct bsa_err *err);
void bsa_ring_fini(struct bsa_ring *q); /* zeroes are fine */

/* To fill, an empty one, or NULL: it is closed. Then it is given away. */
struct bsa_batch *bsa_ring_room(struct bsa_ring *q);
void bsa_ring_push(struct bsa_ring *q);

/* The producer ends the ring: @code is 0, or the error that *@err describes. */
void bsa_ring_end(struct bsa_ring *q, int code, const struct bsa_err *err);

/* 1 and the next batch, borrowed until bsa_ring_pop; 0 at the end, or the code of the end. Waits. */
int bsa_ring_next(struct bsa_ring *q, const struct bsa_batch **ret, struct bsa_err *err);
/* The same without waiting. False: there is no batch now. */
bool bsa_ring_peek(struct bsa_ring *q, const struct bsa_batch **ret);
void bsa_ring_pop(struct bsa_ring *q);

void bsa_ring_close(struct bsa_ring *q);

#endif
