/* desk.c -- bounds how many calls of an app about whole models the service works on at once. */
#include "service/desk.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

void nnb__desk_init(struct nnb__desk *d, uint32_t places)
{
	assert(places);
	d->places = places;
	d->busy = 0;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->change, NULL);
}

void nnb__desk_fini(struct nnb__desk *d)
{
	assert(!d->busy);
	pthread_cond_destroy(&d->change);
	pthread_mutex_destroy(&d->lock);
}

enum nnb__desk_answer nnb__desk_enter(struct nnb__desk *d, const atomic_bool *gone, uint64_t until)
{
	const struct timespec at = { (time_t)(until / 1000000000), (long)(until % 1000000000) };
	enum nnb__desk_answer answer = NNB__DESK_PLACE;
	int r = 0;

	pthread_mutex_lock(&d->lock);
	while (d->busy == d->places && !r && !atomic_load_explicit(gone, memory_order_relaxed))
		r = until ? pthread_cond_clockwait(&d->change, &d->lock, CLOCK_MONOTONIC, &at)
		          : pthread_cond_wait(&d->change, &d->lock);
	if (d->busy < d->places)
		d->busy++;
	else
		answer = r == ETIMEDOUT ? NNB__DESK_LATE : NNB__DESK_GONE;
	pthread_mutex_unlock(&d->lock);
	return answer;
}

void nnb__desk_leave(struct nnb__desk *d)
{
	pthread_mutex_lock(&d->lock);
	assert(d->busy);
	d->busy--;
	pthread_cond_signal(&d->change);
	pthread_mutex_unlock(&d->lock);
}

void nnb__desk_look(struct nnb__desk *d)
{
	pthread_mutex_lock(&d->lock); /* otherwise a call could miss this between its look and its wait */
	pthread_cond_broadcast(&d->change);
	pthread_mutex_unlock(&d->lock);
}
