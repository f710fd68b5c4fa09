/* trace.c -- the parts of trace.h that are not inline: compact events, delays, numbers of ends. */
#include "trace/trace.h"

#include <assert.h>
#include <string.h>

/* Mark all boundaries as not reached. */
static void clear_boundaries(struct nnb__trace *t)
{
	memset(t->at, 0xff, sizeof(t->at)); /* NNB__NEVER_REACHED */
	t->lookups = t->misses = 0;
	t->began = nnb__now();
}

void nnb__trace_begin_trial(struct nnb__trace *t, uint64_t exec)
{
	nnb__trace_begin(t, exec);
	if (t->compact)
		clear_boundaries(t);
}

void nnb__trace_taken(struct nnb__trace *t, enum nbt_queue queue, uint32_t items, uint32_t used,
                      const struct nnb_fmq_waited *waited)
{
	if (t->compact) {
		clear_boundaries(t);
		t->at[NNB__REQUEST_SLEPT] = waited->slept_ns;
	}
	NNB__EMIT(t, fmq_read, .queue = queue, .items = items, .used = used, .spun_ns = waited->spun_ns,
	          .slept_ns = waited->slept_ns, .wakeups = (uint16_t)waited->wakeups);
}

void nnb__trace_delays_begin(struct nnb__trace *t)
{
	memset(t->delays, 0xff, sizeof(t->delays)); /* NNB__NEVER_REACHED */
	t->reference_ns = 0;
	nnb__trace_reads_delay(t, t->is_long);
}

void nnb__trace_delay_from(struct nnb__trace *t)
{
	t->delay_thread = nnb__this_thread();
	t->delay_from = nnb__cpu_delay();
}

/* Parts of one execution may run on several threads, each of which has its own delay count. */
void nnb__trace_delay_to(struct nnb__trace *t, int part)
{
	uint64_t from = t->delay_from, now;

	assert(part >= 0 && part < NNB__DELAYS);
	if (t->delay_thread != nnb__this_thread() || from == NNB__NEVER_REACHED) {
		nnb__trace_delay_from(t);
		return;
	}
	now = nnb__cpu_delay();
	if (now != NNB__NEVER_REACHED && now >= from)
		t->delays[part] = now - from + (t->delays[part] == NNB__NEVER_REACHED ? 0 : t->delays[part]);
	t->delay_from = now;
}

void nnb__trace_emit_delays(struct nnb__trace *t)
{
	nnb__trace_delayed(t, NNB__DELAY_REPLY);
	t->reference_ns = nnb__reference_take();
	NNB__EMIT(t, exec_delay, .delays = { t->delays[0], t->delays[1], t->delays[2] },
	          .reference_ns = t->reference_ns);
	t->reads_delay = false;
}

void nnb__trace_emit_end(struct nnb__trace *t, enum nnb_status status, uint32_t ops_run, uint64_t cpu_ns)
{
	if (t->numbers) {
		/*
		 * An execution that ends with a later number sees all executions that became ready before @t ended:
		 * acquire and release of one counter.
		 */
		t->nth_over = atomic_fetch_add_explicit(&t->numbers->over, 1, memory_order_acq_rel) + 1;
		t->n_ready = atomic_load_explicit(&t->numbers->ready, memory_order_acquire);
		/* Each execution is ready before it is over. Both counts may wrap. */
		assert((int32_t)(t->n_ready - t->nth_over) >= 0);
		t->numbers = NULL;
	}
	NNB__EMIT(t, exec_end, .lane = t->lane, .status = (uint8_t)status, .ops_run = (uint16_t)ops_run,
	          .cpu_ns = cpu_ns, .redo_ns = t->redo_ns, .nth_over = t->nth_over, .n_ready = t->n_ready);
}

void nnb__trace_emit_compact(struct nnb__trace *t)
{
	struct nbt_exec_service e;

	if (t->exec && nbt_on(NBT_EVENT_exec_service)) {
		e = (struct nbt_exec_service){ .exec = t->exec,
			                       .model = t->who.model,
			                       .app = t->who.app,
			                       .priority = t->who.priority,
			                       .path = t->who.path,
			                       .lane = t->lane,
			                       .status = t->status,
			                       .began = t->began,
			                       .lookups = t->lookups,
			                       .misses = t->misses,
			                       .preemptions = t->preemptions,
			                       .deadline_ns = t->deadline_ns,
			                       .reference_ns = t->reference_ns,
			                       .nth_ready = t->nth_ready,
			                       .nth_over = t->nth_over,
			                       .n_ready = t->n_ready };
		t->at[NNB__REDONE] = t->redo_ns;
		memcpy(e.at, t->at, sizeof(e.at));
		memcpy(e.delays, t->delays, sizeof(e.delays));
		nbt__seam.emit[NBT_EVENT_exec_service](&e);
	}
}

void nnb__trace_emit_state(const struct nnb__trace *t)
{
	uint64_t exec = atomic_load_explicit(&t->exec, memory_order_relaxed);
	uint8_t phase = atomic_load_explicit(&t->phase, memory_order_relaxed);
	bool waits = phase == NBT_phase_queued || phase == NBT_phase_preempted;

	if (exec)
		NBT(exec_state, .exec = exec, .model = t->who.model, .app = t->who.app, .priority = t->who.priority,
		    .path = t->who.path, .deadline_ns = t->deadline_ns, .phase = phase, .lane = t->lane,
		    .since = nnb__now(), .ready_ns = waits ? t->ready_ns : 0);
}

/* ---- how long the app's thread had no cpu before it submitted ---- */

/* Counts of the kernel for a thread, at some time. */
struct thread_count {
	uint64_t at;
	struct nnb__cpu_stat stat;
};

/* When this thread last submitted an execution, or had an answer. */
static __thread struct {
	bool known;
	/* number of the LTTng session of that time; calls between two sessions are not recorded */
	uint64_t session;
	struct thread_count count;
} before;

/*
 * Ask the kernel, which takes half a microsecond or more, so a thread is asked for calls with deadlines, and, once it
 * has been asked, for all its calls while that LTTng session lasts. @ret_since: what the thread had since it was last
 * asked; at: how long ago that was. False: the thread was not asked, or it is not known since when.
 */
static bool thread_ask(bool has_deadline, struct thread_count *ret_since)
{
	uint64_t session = nbt__seam.listeners ? nbt__seam.listeners() : 0;
	bool known = before.known && before.session == session;
	struct thread_count now = { .at = has_deadline || known ? nnb__now() : 0 }, last = before.count;

	before.known = now.at && nnb__cpu_stat(&now.stat);
	if (!before.known)
		return false;
	before.session = session;
	before.count = now;
	ret_since->at =
		nnb__now() -
		last.at; /* the interval encloses both readings, so the delay is never longer than the interval */
	ret_since->stat.delay_ns = now.stat.delay_ns - last.stat.delay_ns;
	ret_since->stat.turns = now.stat.turns - last.stat.turns;
	return known && !now.stat.is_first && now.stat.delay_ns >= last.stat.delay_ns;
}

/* ---- the client's side ---- */

void nnb__call_began(struct nnb__call_trace *t, const struct nnb__asked *asked)
{
	struct thread_count since = { 0 };
	bool known;

	t->model = asked->model;
	t->path = (uint8_t)asked->path;
	t->fallback = asked->fallback;
	t->deadline_ns = asked->deadline_ns;
	t->duration_ns = asked->duration_ns;
	known = thread_ask(t->deadline_ns != 0, &since);
	t->delay_ns = known ? since.stat.delay_ns : 0;
	t->gap_ns = known ? since.at : 0;
	t->turns = known ? (uint32_t)since.stat.turns + 1 : 0;
	if (t->compact) {
		memset(t->at, 0xff, sizeof(t->at));
		t->began = nnb__now();
	}
	NNB__EMIT(t, exec_submit, .model = asked->model, .path = (uint8_t)asked->path,
	          .deadline_ns = asked->deadline_ns, .pools = (uint16_t)asked->pools, .measure = asked->measure,
	          .fallback = asked->fallback, .duration_ns = asked->duration_ns, .delay_ns = t->delay_ns,
	          .gap_ns = t->gap_ns, .turns = t->turns);
}

void nnb__call_heard(struct nnb__call_trace *t, enum nbt_queue queue, uint32_t items, uint32_t used,
                     const struct nnb_fmq_waited *waited)
{
	static const struct nnb_fmq_waited unknown;

	if (!waited)
		waited = &unknown;
	if (t->compact) {
		t->at[NNB__AT_RESULT_READ] = nnb__now() - t->began;
		t->at[NNB__RESULT_SLEPT] = waited->slept_ns;
	}
	NNB__EMIT(t, fmq_read, .queue = queue, .items = items, .used = used, .spun_ns = waited->spun_ns,
	          .slept_ns = waited->slept_ns, .wakeups = (uint16_t)waited->wakeups);
}

void nnb__call_ended(struct nnb__call_trace *t, enum nnb_status status)
{
	struct nbt_exec_client e;
	struct thread_count unused;
	/* a fenced call returns when it is launched, so the deadline does not apply to it */
	bool bound = t->deadline_ns && t->path != NBT_path_fenced;
	uint64_t now;

	/* Before the app has the answer, so that no delay is left out. */
	thread_ask(t->deadline_ns != 0, &unused);
	now = t->compact || bound ? nnb__now() : 0;
	if (t->compact)
		t->at[NNB__AT_RETURNED] = now - t->began;
	if (bound && !status && now > t->deadline_ns)
		NNB__EMIT(t, deadline_miss, .model = t->model, .kind = NBT_miss_late, .stage = NBT_stage_returned,
		          .deadline_ns = t->deadline_ns, .over_ns = (int64_t)(now - t->deadline_ns));
	NNB__EMIT(t, exec_return, .status = (uint8_t)status);
	if (!t->compact || !nbt_on(NBT_EVENT_exec_client))
		return;
	e = (struct nbt_exec_client){ .exec = t->exec,
		                      .model = t->model,
		                      .path = t->path,
		                      .deadline_ns = t->deadline_ns,
		                      .status = (uint8_t)status,
		                      .fallback = t->fallback,
		                      .began = t->began,
		                      .duration_ns = t->duration_ns,
		                      .delay_ns = t->delay_ns,
		                      .gap_ns = t->gap_ns,
		                      .turns = t->turns };
	memcpy(e.at, t->at, sizeof(e.at));
	nbt__seam.emit[NBT_EVENT_exec_client](&e);
}
