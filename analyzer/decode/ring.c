/*
 * ring.c -- keeps the batches in a ring of fixed size; a lock and two conditions guard its head and
 * tail.
 */
#include "ring.h"

#include <assert.h>
#include <stdlib.h>

int bsa_ring_init(struct bsa_ring *q, struct bsa_err *err)
{
	*q = (struct bsa_ring){ 0 };
	for (int i = 0; i < BSA_BATCHES; i++) {
		q->batches[i] = malloc(sizeof(*q->batches[i]));
		if (!q->batches[i]) {
			bsa_ring_fini(q);
			return bsa_fail(err, BSA_E_ENV, "there is no memory left to read the trace");
		}
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->filled, NULL);
	pthread_cond_init(&q->emptied, NULL);
	return 0;
}

void bsa_ring_fini(struct bsa_ring *q)
{
	if (q->batches[BSA_BATCHES - 1]) {
		pthread_cond_destroy(&q->emptied);
		pthread_cond_destroy(&q->filled);
		pthread_mutex_destroy(&q->lock);
	}
	for (int i = 0; i < BSA_BATCHES; i++)
		free(q->batches[i]);
	*q = (struct bsa_ring){ 0 };
}

struct bsa_batch *bsa_ring_room(struct bsa_ring *q)
{
	struct bsa_batch *batch;

	pthread_mutex_lock(&q->lock);
	while (!q->closed && q->tail - q->head == BSA_BATCHES)
		pthread_cond_wait(&q->emptied, &q->lock);
	batch = q->closed ? NULL : q->batches[q->tail % BSA_BATCHES];
	pthread_mutex_unlock(&q->lock);
	if (batch)
		batch->bytes = 0;
	return batch;
}

void bsa_ring_push(struct bsa_ring *q)
{
	pthread_mutex_lock(&q->lock);
	assert(q->tail - q->head < BSA_BATCHES);
	q->tail++;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

void bsa_ring_end(struct bsa_ring *q, int code, const struct bsa_err *err)
{
	pthread_mutex_lock(&q->lock);
	q->ended = true;
	q->code = code;
	q->err = *err;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

int bsa_ring_next(struct bsa_ring *q, const struct bsa_batch **ret, struct bsa_err *err)
{
	int r = 1;

	pthread_mutex_lock(&q->lock);
	while (!q->ended && q->tail == q->head)
		pthread_cond_wait(&q->filled, &q->lock);
	if (q->tail != q->head) {
		*ret = q->batches[q->head % BSA_BATCHES];
	} else {
		r = q->code;
		if (r && err)
			*err = q->err;
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

bool bsa_ring_peek(struct bsa_ring *q, const struct bsa_batch **ret)
{
	bool any;

	pthread_mutex_lock(&q->lock);
	any = q->tail != q->head;
	if (any)
		*ret = q->batches[q->head % BSA_BATCHES];
	pthread_mutex_unlock(&q->lock);
	return any;
}

void bsa_ring_pop(struct bsa_ring *q)
{
	pthread_mutex_lock(&q->lock);
	assert(q->tail != q->head);
	q->head++;
	pthread_cond_signal(&q->emptied);
	pthread_mutex_unlock(&q->lock);
}

void bsa_ring_close(struct bsa_ring *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_signal(&q->emptied);
	pthread_mutex_unlock(&q->lock);
}
