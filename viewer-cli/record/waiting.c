/*
 * waiting.c -- a thread that names the program that LTTng waits for, while the thread that asked LTTng waits.
 *
 * CONCURRENCY  The lock guards is_over. The thread reads /proc and writes to standard error; the one that waits does
 *              neither until bsv_waiting_end has joined the thread. The signals that the latter holds back are
 *              blocked in the thread, too.
 */
#include "record/waiting.h"

#include <time.h>

#include "base/screen.h"
#include "record/programs.h"

enum { REPORT_AFTER_S = 1 };

static void *waiting_thread(void *arg)
{
	struct bsv_program programs[BSV_PROGRAMS_MOST];
	struct bsv_waiting *w = arg;
	struct timespec until;
	unsigned n;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += REPORT_AFTER_S;
	pthread_mutex_lock(&w->lock);
	while (!w->is_over && !r)
		r = pthread_cond_clockwait(&w->over, &w->lock, CLOCK_MONOTONIC, &until);
	r = !w->is_over;
	pthread_mutex_unlock(&w->lock);
	if (!r)
		return NULL;
	n = bsv_programs_stopped(programs);
	if (n)
		bsv_notice("waiting: %s (pid %ld)%s does not answer LTTng, because it is stopped; LTTng waits up to "
		           "5 s for each answer, or what lttng-sessiond was told by $LTTNG_APP_SOCKET_TIMEOUT",
		           programs[0].name, (long)programs[0].pid, n > 1 ? ", as others," : "");
	else
		bsv_notice("waiting for LTTng, which waits for a program or for the disk");
	return NULL;
}

void bsv_waiting_begin(struct bsv_waiting *w, bool quiet)
{
	*w = (struct bsv_waiting){ .lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER };
	w->runs = !quiet && !pthread_create(&w->thread, NULL, waiting_thread, w);
}

void bsv_waiting_end(struct bsv_waiting *w)
{
	if (!w->runs)
		return;
	pthread_mutex_lock(&w->lock);
	w->is_over = true;
	pthread_cond_signal(&w->over);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	w->runs = false;
}
