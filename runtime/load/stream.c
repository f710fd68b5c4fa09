/*
 * stream.c -- one thread of a stream: waits until an execution is due, executes, checks the outputs, tries again, and
 * counts.
 */
#include "stream.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/sys.h"
#include "load.h"
#include "nnb/fence.h"
#include "state.h"

enum { BREATH_NS = 1000000 };

/* An asynchronous execution under way. */
struct ticket {
	struct ticket *next; /* next ticket in the list of abandoned ones */
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
	enum nnb_status status;
	struct nnb_timing timing;
	uint64_t exec, called_back;  /* number in traces; time of the callback */
	struct load_buffers buffers; /* once it is abandoned */
};

/* A thread at work. */
struct worker {
	const struct load_thread *thread;
	struct load_line *line;
	struct load_run *run;
	const struct load_stream *stream;
	struct load_figures *figures;
	struct load_buffers buffers;
	struct load_state state;
	struct nnb_burst *burst;
	uint8_t *reference; /* outputs of the first execution */
	struct ticket *ticket;
	uint64_t base, end;   /* CLOCK_MONOTONIC: when it begins and ends */
	uint64_t frame;       /* the next, of a periodic stream */
	int64_t in_burst;     /* executions on this burst */
	int64_t on_pools;     /* executions on these pools */
	bool fresh;           /* the burst has not seen these pools */
	bool lost;            /* the state */
	uint64_t called_back; /* when the last execution called back; 0: it did not */
};

static bool run_continues(const struct worker *w)
{
	return !atomic_load_explicit(&w->run->stopping, memory_order_relaxed);
}

/* Wait until @when. False: the stream must stop. */
static bool wait_until(const struct worker *w, uint64_t when)
{
	struct pollfd stop = { .fd = w->run->stop, .events = POLLIN };
	uint64_t now = nnb__now();

	while (run_continues(w) && now < when) {
		uint64_t left = when - now;
		struct timespec t = { .tv_sec = (time_t)(left / LOAD_S), .tv_nsec = (long)(left % LOAD_S) };

		ppoll(&stop, 1, &t, NULL);
		now = nnb__now();
	}
	return run_continues(w);
}

/* Stop the stream with an error; its first reason is kept. */
static void stream_give_up(const struct worker *w, const char *what, const char *why)
{
	struct load_outcome *o = w->line->outcome;

	pthread_mutex_lock(&w->run->lock);
	if (!o->broken)
		nnb_because(&o->reason, "%s: %s", what, why);
	o->broken = true;
	pthread_mutex_unlock(&w->run->lock);
}

static void give_up_status(const struct worker *w, const char *what, enum nnb_status status,
                           const struct nnb_reason *why)
{
	struct nnb_reason words;

	nnb_because(&words, "%s: %s", nnb_status_name(status), why->text);
	stream_give_up(w, what, words.text);
}

/* ---- the schedule ---- */

/* When a frame is due. Its jitter depends on the seed and the frame only, not on skipped frames. */
static uint64_t due_of(const struct worker *w, uint64_t frame)
{
	uint64_t x = w->thread->seed + frame * 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x = w->stream->jitter_ns ? (x ^ (x >> 31)) % w->stream->jitter_ns : 0;
	return w->base + frame * w->stream->period_ns + x;
}

/* The number of frames that are due before @when. */
static uint64_t frames_before(const struct worker *w, uint64_t when)
{
	uint64_t n;

	assert(w->stream->period_ns);
	if (when <= w->base)
		return 0;
	n = (when - w->base - 1) / w->stream->period_ns;
	return due_of(w, n) < when ? n + 1 : n;
}

/* Wait for the time of the next execution. *ret_due: 0 in a closed loop. False: the stream has ended. */
static bool next_time(struct worker *w, bool first, uint64_t *ret_due)
{
	uint64_t now, n, due;

	*ret_due = 0;
	if (!w->stream->period_ns) {
		if (!first && w->stream->think_ns && !wait_until(w, nnb__now() + w->stream->think_ns))
			return false;
		return run_continues(w) && nnb__now() < w->end;
	}
	/* take the last of the due frames, or wait for the next one */
	now = nnb__now();
	n = frames_before(w, now + 1);
	if (now >= w->end)
		return false;
	if (n > w->frame + 1) { /* n - 1 is the last that is due */
		w->figures->skipped += n - 1 - w->frame;
		w->frame = n - 1;
	}
	due = due_of(w, w->frame);
	if (due >= w->end || !wait_until(w, due))
		return false;
	w->frame++;
	*ret_due = due;
	return true;
}

/* ---- burst, state and pools ---- */

static void close_burst(struct worker *w)
{
	struct nnb_fmq_waited waited = { 0 };

	if (!w->burst)
		return;
	nnb_burst_waited(w->burst, NULL, &waited);
	w->figures->spun_ns += waited.spun_ns;
	w->figures->slept_ns += waited.slept_ns;
	w->figures->wakeups += waited.wakeups;
	w->burst = nnb_burst_free(w->burst);
}

static bool open_burst(struct worker *w)
{
	struct nnb_burst_config config = { .window_ns = w->stream->window_ns };
	struct nnb_reason why = { "" };
	enum nnb_status status;

	assert(!w->burst);
	status = nnb_remote_burst(w->line->remote, &config, &w->burst, &why);
	if (status) {
		give_up_status(w, "no burst", status, &why);
		return false;
	}
	w->figures->bursts++;
	w->in_burst = 0;
	w->fresh = true;
	return true;
}

static bool make_state(struct worker *w)
{
	struct nnb_reason why = { "" };
	enum nnb_status status;
	uint32_t fallen;

	assert(!w->state.work);
	status = load_state_init(&w->state, w->stream->state, w->run->client, w->line->remote, w->line->work, &why);
	if (status) {
		give_up_status(w, "no state", status, &why);
		return false;
	}
	w->figures->state_buffers += load_state_buffers(&w->state, &fallen);
	w->figures->state_fallen += fallen;
	if (w->lost) {
		load_sequence_restart(&w->figures->sequence);
		w->figures->state_resets++;
		w->lost = false;
	}
	return true;
}

static bool make_buffers(struct worker *w)
{
	struct load_buffers old = w->buffers;
	int r = load_buffers_init(&w->buffers, w->line->work, (uint32_t)w->stream->pools,
	                          w->stream->state == LOAD_ON_DEVICE);

	if (r)
		w->buffers = (struct load_buffers){ 0 };
	else if (old.work)
		load_state_move(&w->state, &old, &w->buffers);
	load_buffers_fini(&old);
	if (r) {
		stream_give_up(w, "no pools", strerror(-r));
		return false;
	}
	w->figures->pools += (uint64_t)w->stream->pools;
	w->on_pools = 0;
	w->fresh = true;
	return true;
}

/* Make the state, the pools and the burst of the next execution, as far as they do not exist. */
static bool get_ready(struct worker *w)
{
	const struct load_stream *s = w->stream;

	if (!w->state.work && !make_state(w))
		return false;
	if ((!w->buffers.work || (s->fresh_pools && w->on_pools >= s->fresh_pools)) && !make_buffers(w))
		return false;
	if (w->burst && s->burst_length && w->in_burst >= s->burst_length)
		close_burst(w);
	return s->path != LOAD_BURST || w->burst || open_burst(w);
}

/* ---- asynchronously ---- */

static struct ticket *ticket_new(void)
{
	struct ticket *t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;

	if (!t)
		return NULL;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->cond, &attr);
	pthread_condattr_destroy(&attr);
	return t;
}

/* The service may still write to the pools, and call back: ticket and pools stay until the process ends. */
static void ticket_abandon(struct worker *w)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct ticket *abandoned;

	assert(w->ticket);
	w->ticket->buffers = w->buffers;
	pthread_mutex_lock(&lock);
	w->ticket->next = abandoned;
	abandoned = w->ticket;
	pthread_mutex_unlock(&lock);
	w->ticket = NULL;
	w->buffers = (struct load_buffers){ 0 };
}

static void on_done(void *arg, const struct nnb_result *result)
{
	struct ticket *t = arg;
	uint64_t now = nnb__now();

	pthread_mutex_lock(&t->lock);
	assert(!t->done);
	t->done = true;
	t->called_back = now;
	t->exec = result->exec;
	t->status = result->status;
	t->timing = result->timing;
	pthread_cond_signal(&t->cond);
	pthread_mutex_unlock(&t->lock);
}

static enum nnb_status execute_async(struct worker *w, const struct nnb_call *call, struct nnb_answer *answer,
                                     struct nnb_reason *reason)
{
	struct ticket *t;
	struct timespec at;
	uint64_t until;
	bool done;
	int r = 0;

	if (!w->ticket)
		w->ticket = ticket_new();
	t = w->ticket;
	if (!t)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	t->done = false;
	nnb_remote_execute_async(w->line->remote, call, on_done, t, reason);
	until = nnb__now() + call->timeout_ns;
	at = (struct timespec){ .tv_sec = (time_t)(until / LOAD_S), .tv_nsec = (long)(until % LOAD_S) };
	pthread_mutex_lock(&t->lock);
	while (!t->done && !r)
		r = pthread_cond_timedwait(&t->cond, &t->lock, &at);
	done = t->done;
	pthread_mutex_unlock(&t->lock);
	if (!done) {
		nnb_because(reason, "the callback was not called in time");
		ticket_abandon(w);
		return NNB_STATUS_GENERAL_FAILURE;
	}
	answer->timing = t->timing;
	answer->exec = t->exec;
	w->called_back = t->called_back;
	return t->status;
}

/* ---- fenced ---- */

/* The state of the fence and the status of the execution must agree. */
static enum nnb_status how_it_went(struct nnb_fenced *fenced, int state, struct nnb_answer *answer,
                                   struct nnb_reason *reason)
{
	struct nnb_timing since_fences;
	enum nnb_status status = nnb_fenced_info(fenced, &answer->timing, &since_fences, reason);

	if ((state == NNB_FENCE_SIGNALLED) == (status == NNB_STATUS_NONE))
		return status;
	nnb_because(reason, "its fence %s, and its status is %s",
	            state == NNB_FENCE_SIGNALLED ? "was signalled" : "failed", nnb_status_name(status));
	return NNB_STATUS_GENERAL_FAILURE;
}

static enum nnb_status execute_fenced(struct worker *w, const struct nnb_call *call, struct nnb_answer *answer,
                                      struct nnb_reason *reason)
{
	struct nnb_fenced *fenced = NULL;
	enum nnb_status status;
	int fence = -1, state;

	if (!w->ticket)
		w->ticket = ticket_new();
	if (!w->ticket)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	status = nnb_remote_execute_fenced(w->line->remote, call, NULL, &fenced, &fence, reason);
	if (status)
		return status;
	answer->exec = nnb_fenced_exec(fenced);
	do
		state = nnb_fence_wait(&fence, 1, call->timeout_ns);
	while (state == -EINTR);
	if (state == NNB_FENCE_SIGNALLED || state == NNB_FENCE_FAILED) {
		status = how_it_went(fenced, state, answer, reason);
	} else {
		nnb_because(reason, "its fence was not signalled in time");
		ticket_abandon(w);
		status = NNB_STATUS_GENERAL_FAILURE;
	}
	nnb_fenced_free(fenced);
	close(fence);
	return status;
}

/* ---- one execution ---- */

static enum nnb_status worker_execute(struct worker *w, uint64_t deadline, struct nnb_answer *answer,
                                      struct nnb_reason *reason)
{
	const struct load_work *work = w->line->work;
	uint32_t n_pools = load_state_aim(&w->state, &w->buffers);
	struct nnb_call call = { .inputs = w->buffers.inputs,
		                 .outputs = w->buffers.outputs,
		                 .pools = w->buffers.pools,
		                 .n_inputs = work->model->n_inputs,
		                 .n_outputs = work->model->n_outputs,
		                 .n_pools = n_pools,
		                 .measure = w->stream->measure,
		                 .timeout_ns = w->run->board->orders.timeout_ns,
		                 .terms.deadline_ns = w->stream->told ? deadline : 0 };

	switch (w->stream->path) {
	case LOAD_BURST:
		assert(w->burst);
		return nnb_burst_execute(w->burst, &call, answer, reason);
	case LOAD_SYNC:
		return nnb_remote_execute(w->line->remote, &call, answer, reason);
	case LOAD_FENCED:
		return execute_fenced(w, &call, answer, reason);
	default:
		return execute_async(w, &call, answer, reason);
	}
}

/* ---- the outcome ---- */

/* Whether the outputs are those of the first execution, or of the same step before. */
static bool is_right(struct worker *w)
{
	if (w->stream->state) {
		bool right = load_sequence_add(&w->figures->sequence, load_buffers_digest(&w->buffers));
		uint64_t began = nnb__now();

		/* Pass the outputs to the next inputs. False: the digest differs from an earlier run of the same
		 * steps. */
		load_state_advance(&w->state, &w->buffers);
		if (w->stream->state == LOAD_IN_POOLS)
			w->figures->state_copy_ns += nnb__now() - began;
		return right;
	}
	if (w->reference)
		return load_outputs_equal(&w->buffers, w->reference);
	w->reference = malloc(load_outputs_bytes(w->line->work) + 1);
	if (!w->reference)
		abort();
	load_outputs_copy(&w->buffers, w->reference);
	w->figures->digest = load_buffers_digest(&w->buffers);
	return true;
}

/*
 * Execute once. The deadline counts from when the frame was due; in a closed loop, from the submission of this
 * attempt.
 */
static struct load_execution frame_attempt(struct worker *w, uint64_t due, bool retry)
{
	const struct load_stream *s = w->stream;
	struct load_execution e = { .due = due, .measure = s->measure, .retry = retry };
	struct nnb_answer answer = { .timing = NNB_NO_TIMING };
	struct nnb_reason why = { "" };

	assert(w->buffers.work && w->state.work);
	load_buffers_spoil(&w->buffers);
	w->called_back = 0;
	e.submitted = nnb__now();
	e.deadline = s->deadline_ns ? (due ? due : e.submitted) + s->deadline_ns : 0;
	e.status = worker_execute(w, e.deadline, &answer, &why);
	e.returned = nnb__now();
	e.fallback = answer.fallback;
	if (w->thread->log) {
		/* a callback's time of the end is more precise than that of a waiting thread */
		struct load_log_entry entry = { .exec = answer.exec,
			                        .submitted = e.submitted,
			                        .returned = w->called_back ? w->called_back : e.returned,
			                        .status = e.status,
			                        .path = e.fallback ? LOAD_SYNC : s->path };

		load_log_add(w->thread->log, &entry);
	}
	e.cold = w->fresh && s->path == LOAD_BURST && !e.fallback;
	e.on_device_ns = answer.timing.on_device_ns;
	e.in_driver_ns = answer.timing.in_driver_ns;
	e.wrong = !e.status && !is_right(w);
	load_figures_add(w->figures, &e);
	if (e.cold && !e.status)
		w->fresh = false;
	w->in_burst++;
	w->on_pools++;
	if (!load_expected(e.status, s->retries > 0)) {
		struct nnb_reason *reason = &w->line->outcome->reasons[e.status];

		pthread_mutex_lock(&w->run->lock);
		if (!reason->text[0]) /* the first reason of each status is kept */
			nnb_because(reason, "%s", why.text);
		pthread_mutex_unlock(&w->run->lock);
	}
	if (s->state && !load_expected(e.status, true)) {
		/* the outcome is unknown, and the service may still write: begin again, with other buffers and pools */
		load_buffers_fini(&w->buffers);
		load_state_fini(&w->state);
		w->lost = true;
	}
	return e;
}

/* Wait for a retry, if the status is transient and the deadline leaves time for it. */
static bool try_again(struct worker *w, const struct load_execution *e)
{
	uint64_t then = e->returned + w->stream->retry_after_ns;

	return load_transient(e->status) && then < w->end && !(e->due && e->deadline && then >= e->deadline) &&
	       wait_until(w, then) && get_ready(w);
}

/* Execute a frame, with its retries. False: the stream cannot go on. */
static bool run_one(struct worker *w, uint64_t due)
{
	struct load_execution e = frame_attempt(w, due, false);

	for (int64_t i = 0; i < w->stream->retries && try_again(w, &e); i++)
		e = frame_attempt(w, due, true);
	if (load_expected(e.status, w->stream->retries > 0))
		return true;
	return e.status != NNB_STATUS_DEAD_OBJECT && nnb_client_alive(w->run->client) &&
	       wait_until(w, nnb__now() + BREATH_NS);
}

static void worker_loop(struct worker *w)
{
	bool first = true, counted = w->run->board->orders.executions; /* the stream has a number of executions */
	uint64_t due, now, n;

	/* Bursts and pools are made while there is time, not when a frame is due. */
	while (!counted || atomic_fetch_sub_explicit(&w->line->left, 1, memory_order_relaxed) > 0) {
		if (!get_ready(w) || (first && !wait_until(w, w->base)))
			return;
		if (!next_time(w, first, &due))
			break;
		if (!run_one(w, due))
			return;
		first = false;
	}
	if (counted || !w->stream->period_ns)
		return;
	/* count the frames that were due before the end, and not run */
	now = nnb__now();
	n = frames_before(w, now < w->end ? now : w->end);
	if (n > w->frame)
		w->figures->skipped += n - w->frame;
}

void *load_thread_main(void *arg)
{
	const struct load_thread *t = arg;
	struct load_run *run = t->line->run;
	struct worker w = { .thread = t,
		            .line = t->line,
		            .run = run,
		            .stream = t->line->stream,
		            .figures = t->figures,
		            .base = run->began + t->line->stream->start_ns,
		            .end = run->began + run->board->orders.duration_ns };

	prctl(PR_SET_NAME, w.stream->name); /* truncated to fit; top(1) shows it */
	worker_loop(&w);
	close_burst(&w);
	if (w.buffers.work && w.figures->sequence.steps)
		w.figures->sequence.state = load_state_digest(&w.state, &w.buffers);
	load_state_fini(&w.state);
	load_buffers_fini(&w.buffers);
	if (w.ticket) {
		pthread_cond_destroy(&w.ticket->cond);
		pthread_mutex_destroy(&w.ticket->lock);
		free(w.ticket);
	}
	free(w.reference);
	eventfd_write(run->idle, 1);
	return NULL;
}
