/*
 * sweep.c -- closes the sockets of refused clients.
 *
 * CONCURRENCY  Any thread sweeps; one thread closes, in the order of arrival. Nothing is closed under the lock.
 * PROGRESS  nnb__close sleeps for 0.2 ms at most, but can take so much cpu time (close.c) that the thread which
 *           accepts connections should not call it. If the queue is full, or has NNB__SWEEP_OF_ONE sockets of the
 *           user already, the caller closes the next socket itself: so the queue is bounded, and no user fills it
 *           alone.
 */
#include "service/sweep.h"

#include <assert.h>
#include <time.h>

#include "base/close.h"
#include "base/lock.h"
#include "base/sys.h"

void nnb__sweeper_init(struct nnb__sweeper *w)
{
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	w->last = -1;
}

void nnb__sweeper_fini(struct nnb__sweeper *w)
{
	assert(!w->runs && !w->n);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
}

/* The next socket to close; -1: none will come. The lock is held. */
static int next_fd(struct nnb__sweeper *w)
{
	int fd;

	assert(nnb__is_locked(&w->lock));
	while (!w->n && !w->ending)
		pthread_cond_wait(&w->changed, &w->lock);
	if (!w->n) {
		fd = w->last;
		w->last = -1;
		return fd;
	}
	assert(w->first < NNB__SWEEP_MAX && w->n <= NNB__SWEEP_MAX);
	fd = w->queue[w->first].fd;
	w->first = (w->first + 1) % NNB__SWEEP_MAX;
	w->n--;
	return fd;
}

static void *sweep_all(void *arg)
{
	struct nnb__sweeper *w = arg;
	int fd;

	pthread_mutex_lock(&w->lock);
	for (fd = next_fd(w); fd >= 0; fd = next_fd(w)) {
		pthread_mutex_unlock(&w->lock);
		nnb__close(fd);
		pthread_mutex_lock(&w->lock);
	}
	w->ended = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int nnb__sweeper_start(struct nnb__sweeper *w)
{
	int r;

	assert(!w->runs);
	r = -pthread_create(&w->thread, NULL, sweep_all, w);

	w->runs = !r;
	return r;
}

void nnb__sweeper_close(struct nnb__sweeper *w, int fd, uint32_t uid)
{
	uint32_t of_one = 0; /* sockets of this user */
	bool room;

	pthread_mutex_lock(&w->lock);
	assert(!w->ending);
	for (uint32_t i = 0; i < w->n; i++)
		of_one += w->queue[(w->first + i) % NNB__SWEEP_MAX].uid == uid;
	room = w->runs && w->n < NNB__SWEEP_MAX && of_one < NNB__SWEEP_OF_ONE;
	if (room) {
		uint32_t at = (w->first + w->n++) % NNB__SWEEP_MAX;

		w->queue[at].fd = fd;
		w->queue[at].uid = uid;
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	if (!room)
		nnb__close(fd);
}

void nnb__sweeper_end(struct nnb__sweeper *w, int last)
{
	if (!w->runs) {
		nnb__close(last);
		return;
	}
	pthread_mutex_lock(&w->lock);
	assert(!w->ending);
	w->last = last;
	w->ending = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

bool nnb__sweeper_wait(struct nnb__sweeper *w, uint64_t until_ns)
{
	const struct timespec until = { (time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000) };
	bool ended;
	int r = 0;

	if (!w->runs)
		return true;
	pthread_mutex_lock(&w->lock);
	while (!w->ended && !r)
		r = pthread_cond_clockwait(&w->changed, &w->lock, CLOCK_MONOTONIC, &until);
	ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	if (!ended)
		return false;
	pthread_join(w->thread, NULL);
	w->runs = false;
	return true;
}
