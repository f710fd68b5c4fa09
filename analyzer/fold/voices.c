/* voices.c -- keeps for each service the time at which it was last heard. */
#include "fold/inside.h"

#include <assert.h>
#include <stdlib.h>

enum { NUMBER_SHIFT = 20, EXEC_SHIFT = 32 + NUMBER_SHIFT };

static unsigned of_exec(uint64_t exec)
{
	return exec ? (unsigned)(exec >> EXEC_SHIFT) : BSA_NO_INSTANCE;
}

static unsigned of_number(uint32_t number)
{
	return number ? number >> NUMBER_SHIFT : BSA_NO_INSTANCE;
}

static unsigned of_queue(uint64_t exec, bool service)
{
	return service ? of_exec(exec) : BSA_NO_INSTANCE;
}

unsigned bsa_voice_of(const struct bsa_event *e)
{
#define OF_EXEC(kind)    \
	case BSA_##kind: \
		return of_exec(BSA_OF(e, kind)->exec);
#define OF_NUMBER(kind, number) \
	case BSA_##kind:        \
		return of_number(BSA_OF(e, kind)->number);

	uint8_t queue;

	switch ((enum bsa_kind)e->kind) {
		OF_EXEC(request_decode)
		OF_EXEC(fence_wait)
		OF_EXEC(sched_enqueue)
		OF_EXEC(sched_dispatch)
		OF_EXEC(sched_preempt)
		OF_EXEC(sched_ready)
		OF_EXEC(sched_resume)
		OF_EXEC(op_end)
		OF_EXEC(exec_end)
		OF_EXEC(fence_signal)
		OF_EXEC(exec_service)
		OF_EXEC(exec_state)
		OF_EXEC(exec_delay)
		OF_NUMBER(client_connect, conn)
		OF_NUMBER(client_disconnect, conn)
		OF_NUMBER(model_prepare, conn)
		OF_NUMBER(model_release, model)
		OF_NUMBER(stream_open, stream)
		OF_NUMBER(stream_close, stream)
	case BSA_service_state:
		return BSA_OF(e, service_state)->instance < BSA_INSTANCES ? BSA_OF(e, service_state)->instance
		                                                          : BSA_NO_INSTANCE;
	case BSA_fmq_read:
		queue = BSA_OF(e, fmq_read)->queue;
		return of_queue(BSA_OF(e, fmq_read)->exec,
		                queue == BSA_QUEUE_REQUEST || queue == BSA_QUEUE_CALL_REQUEST);
	case BSA_fmq_write:
		queue = BSA_OF(e, fmq_write)->queue;
		return of_queue(BSA_OF(e, fmq_write)->exec,
		                queue == BSA_QUEUE_RESULT || queue == BSA_QUEUE_CALL_RESULT);
	default: /* events too rare to matter, or from either side */
		return BSA_NO_INSTANCE;
	}
#undef OF_EXEC
#undef OF_NUMBER
}

void bsa_voices_note_kind(struct bsa_fold *f, unsigned voice, const struct bsa_event *e)
{
	if (e->kind == BSA_exec_submit)
		voice = of_exec(BSA_OF(e, exec_submit)->exec);
	else if (e->kind == BSA_exec_return)
		voice = of_exec(BSA_OF(e, exec_return)->exec);
	else if (e->kind == BSA_fmq_read)
		voice = of_exec(BSA_OF(e, fmq_read)->exec);
	else if (e->kind == BSA_fmq_write)
		voice = of_exec(BSA_OF(e, fmq_write)->exec);
	if (voice != BSA_NO_INSTANCE)
		f->voices.kinds[voice & (BSA_INSTANCES - 1)] |= UINT64_C(1) << e->kind;
}

static void mark_open(const struct bsa_table *t, bool open[BSA_INSTANCES])
{
	struct bsa_table_walk walk = { 0 };
	const struct bsa_entry *e;

	while ((e = bsa_table_walk(t, &walk)))
		open[(uint32_t)e->number >> NUMBER_SHIFT] = true;
}

uint64_t bsa_voices_until(const struct bsa_fold *f, uint64_t at)
{
	bool open[BSA_INSTANCES] = { false };
	uint64_t until = at;

	mark_open(&f->world.connections, open);
	mark_open(&f->world.streams, open);
	for (unsigned i = 0; i < BSA_INSTANCES; i++)
		if (open[i] && f->voices.heard[i] && f->voices.heard[i] < until)
			until = f->voices.heard[i] + 1;
	return until;
}

void bsa_voices_untold(struct bsa_fold *f, const struct bsa_exec *x)
{
	struct bsa_voices *v = &f->voices;
	unsigned i = x->sched.instance;

	if (i >= BSA_INSTANCES)
		return;
	v->untold[i] = f->now;
	if (x->returned == BSA_STATUS_NONE) {
		v->answered[i] = f->now;
		return;
	}
	if (x->fact.at[BSA_REQUEST_WRITTEN] == BSA_NEVER) /* it need not have failed in the service */
		return;
	if (v->failed_after[i] != v->heard[i])
		v->n_failed[i] = 0;
	v->failed_after[i] = v->heard[i];
	v->n_failed[i]++;
}

/* Whether its client waits for the answer to @x, and would be told if the service died. */
static bool is_awaited(const struct bsa_exec *x)
{
	return x->fact.at[BSA_SUBMITTED] != BSA_NEVER && x->fact.at[BSA_RESULT_WRITTEN] == BSA_NEVER &&
	       x->fact.at[BSA_RETURNED] == BSA_NEVER && x->fact.at[BSA_SIGNALLED] == BSA_NEVER &&
	       !bsa_exec_is_passed(x);
}

/*
 * A service is silent if it was for longer than this, and than that many of the estimated runs: the longest run of what
 * is under way may be on a lane all that time.
 */
enum { SILENT_LEAST_NS = 100000000, SILENT_RUNS = 10 };

/* What is awaited of a service. */
struct awaited {
	uint64_t since; /* submission of the earliest execution */
	uint64_t run;   /* the longest estimate */
	uint64_t execution;
	uint32_t n;
};

static uint64_t estimate_of(const struct bsa_exec *x)
{
	uint64_t estimate = x->fact.estimate != BSA_NEVER ? x->fact.estimate : x->model_estimate;

	return estimate != BSA_NEVER && estimate < BSA_NEVER / SILENT_RUNS ? estimate : 0;
}

static void await(struct awaited *a, const struct bsa_exec *x)
{
	uint64_t run = estimate_of(x);

	if (!a->n++ || x->fact.at[BSA_SUBMITTED] < a->since) {
		a->since = x->fact.at[BSA_SUBMITTED];
		a->execution = x->fact.id;
	}
	if (run > a->run)
		a->run = run;
}

/* ---- services that are silent in the midst ---- */

enum {
	LOOKED_AT = 8, /* executions of a stream */
	/*
	 * The thread of a run slept: it had a cpu, or waited for one, for less than one tenth of a pause, or did
	 * neither for NO_CPU_LEAST_NS of it. On busy machines a thread that had to take a free lane, or to take one
	 * away, had no cpu for up to 160 ms.
	 */
	SLEPT_PART = 10,
	NO_CPU_LEAST_NS = 300000000,
	PROBATION_NS = 1000000000, /* apps whose executions stalled are on probation, and wait behind others */
};

/*
 * Whether a thread of the service should have read the request of @x at once. The threads of bursts and of blocking
 * calls do, unless they are busy with another execution.
 */
static bool is_unread(const struct bsa_exec *x)
{
	const struct bsa_stream_known *s = x->stream;
	bool given_up = x->fact.at[BSA_RETURNED] != BSA_NEVER && x->returned != BSA_STATUS_NONE &&
	                x->returned != BSA_STATUS_UNKNOWN && x->fact.at[BSA_RESULT_READ] == BSA_NEVER &&
	                x->fact.at[BSA_RESULT_WRITTEN] == BSA_NEVER && !bsa_exec_is_passed(x);
	unsigned n = 0;

	if ((x->fact.path != BSA_PATH_BURST && x->fact.path != BSA_PATH_SYNC) ||
	    x->fact.at[BSA_REQUEST_WRITTEN] == BSA_NEVER || x->fact.at[BSA_REQUEST_READ] != BSA_NEVER ||
	    !(is_awaited(x) || given_up))
		return false;
	for (const struct bsa_link *l = s->execs.next; l != &s->execs; l = l->next) {
		const struct bsa_exec *y = BSA_LINKED(l, struct bsa_exec, of_stream);

		if (++n > LOOKED_AT || y->fact.exec < x->fact.exec || y->fact.at[BSA_REQUEST_READ] != BSA_NEVER)
			return false;
	}
	return true;
}

static bool may_be_on_lane(const struct bsa_exec *x)
{
	if (x->fact.at[BSA_RUN_ENDED] != BSA_NEVER || x->off || x->passed)
		return false;
	return x->fact.at[BSA_DISPATCHED] != BSA_NEVER ||
	       (x->late_start && !x->found_waiting && x->fact.at[BSA_ENQUEUED] == BSA_NEVER);
}

/* Whether @x is ready, and waits for a lane. */
static bool waits_for_lane(const struct bsa_exec *x)
{
	if (x->fact.at[BSA_RUN_ENDED] != BSA_NEVER || x->passed)
		return false;
	if (x->off)
		return !bsa_mode_stalls(x->stop.mode) || x->ready_again;
	return x->fact.at[BSA_ENQUEUED] != BSA_NEVER && x->fact.at[BSA_DISPATCHED] == BSA_NEVER;
}

/* Note what @x, which is under way at the end of a pause, had of the service. Returns false if there are too many. */
static bool pause_note(const struct bsa_fold *f, struct bsa_pause *p, const struct bsa_exec *x)
{
	uint64_t enqueued = x->fact.at[BSA_ENQUEUED];

	p->waits |= waits_for_lane(x);
	if (waits_for_lane(x) && enqueued != BSA_NEVER && !bsa_losses_touch(&f->losses, enqueued, f->now)) {
		p->n_ready++;
		p->ready = x->fact.id;
	}
	if (is_unread(x) && p->n_unread < BSA_PAUSE_UNREAD)
		p->unread[p->n_unread++] = (struct bsa_unread){ x->fact.id, x->fact.at[BSA_RETURNED] };
	if (!may_be_on_lane(x))
		return true;
	if (p->n_holders == BSA_PAUSE_HOLDERS)
		return false;
	p->holders[p->n_holders++] = x->fact.id;
	return true;
}

/* What is known at the end of a pause of service @i, which ends now. Returns false where it can prove nothing. */
static bool read_pause(const struct bsa_fold *f, unsigned i, struct bsa_pause *ret)
{
	const struct bsa_voices *v = &f->voices;
	const struct bsa_service *s = bsa_table_find(&f->world.services, i);
	struct awaited all = { 0 };

	*ret = (struct bsa_pause){ .published = BSA_NEVER };
	for (const struct bsa_link *l = f->execs.under_way.next; l != &f->execs.under_way; l = l->next) {
		const struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);

		if (x->sched.instance != i)
			continue;
		if (is_awaited(x))
			await(&all, x);
		if (!pause_note(f, ret, x))
			return false;
	}
	ret->waits &= s && s->tells_ready; /* such a service takes lanes away from threads that sleep */
	ret->fact = (struct bsa_silence){ .ended = f->now,
		                          .heard = v->heard[i],
		                          .execution = all.execution,
		                          .trace = v->trace[i],
		                          .process = s ? s->rules.process : 0,
		                          .awaited = all.n,
		                          .failed = v->failed_after[i] == v->heard[i] ? v->n_failed[i] : 0,
		                          .instance = (uint16_t)i,
		                          .went_on = true };
	ret->idled = s && s->tells_ready && !s->listing && s->rules.policy != BSA_POLICY_NATIVE &&
	             ret->n_holders < s->rules.lanes && ret->n_ready > s->rules.lanes - ret->n_holders &&
	             f->now - v->heard[i] >= NO_CPU_LEAST_NS &&
	             (!v->stalled[i] || v->heard[i] - v->stalled[i] >= PROBATION_NS);
	if (!ret->idled)
		ret->ready = 0;
	return ret->n_unread || (ret->waits && ret->n_holders) || ret->idled;
}

/* Service @i emits something, after a long time without. */
static void look_for_pause(struct bsa_fold *f, unsigned i)
{
	struct bsa_voices *v = &f->voices;

	if (!f->facts.silence || f->options.horizon_ns || v->n_pauses == BSA_PAUSES || v->answered[i] > v->heard[i] ||
	    bsa_losses_touch(&f->losses, v->heard[i], f->now))
		return;
	if (read_pause(f, i, &v->pauses[v->n_pauses]))
		v->n_pauses++;
}

/*
 * Since when the service could read the request of @x, at the latest: since its client waited for the result.
 * BSA_NEVER: how long it waited is not known.
 */
static uint64_t published_by(const struct bsa_exec *x)
{
	uint64_t written = x->fact.at[BSA_REQUEST_WRITTEN], read = x->fact.at[BSA_RESULT_READ];
	uint64_t spun = x->fact.result.spun, slept = x->fact.result.slept;

	if (written == BSA_NEVER || read == BSA_NEVER || read < written || spun == BSA_NEVER || slept == BSA_NEVER)
		return BSA_NEVER;
	if (spun >= read - written || slept >= read - written - spun)
		return written;
	return read - spun - slept;
}

/* @x is over. Returns whether it was of @p. */
static bool pause_take(struct bsa_pause *p, const struct bsa_exec *x)
{
	uint64_t silent = p->fact.ended - p->fact.heard, cpu = x->fact.cpu, delay = x->fact.delay[BSA_DELAY_RUN];
	uint64_t read = x->fact.at[BSA_REQUEST_READ], published;
	unsigned unread = 0, holder = 0;

	while (unread < p->n_unread && p->unread[unread].id != x->fact.id)
		unread++;
	while (holder < p->n_holders && p->holders[holder] != x->fact.id)
		holder++;
	if (unread < p->n_unread) {
		published = p->unread[unread].published;
		if (published == BSA_NEVER)
			published = published_by(x);
		if (read != BSA_NEVER && read >= p->fact.ended && published < p->published)
			p->published = published;
		p->unread[unread] = p->unread[--p->n_unread];
		return true;
	}
	if (x->fact.id == p->ready) {
		p->ready = 0;
		return true;
	}
	if (holder == p->n_holders)
		return false;
	if (cpu > p->cpu_most)
		p->cpu_most = cpu;
	/*
	 * All of the time in which its thread had a cpu, or waited for one, may lie in the silence: is the rest long
	 * enough to show that nothing took its lane away? A driver may wait for its device: so the run is no usual one.
	 */
	if (cpu < silent && delay < silent - cpu &&
	    (cpu + delay < silent / SLEPT_PART || silent - cpu - delay >= NO_CPU_LEAST_NS) && estimate_of(x) &&
	    estimate_of(x) <= silent / SILENT_RUNS)
		p->slept = true;
	p->holders[holder] = p->holders[--p->n_holders];
	return true;
}

/* All that was under way in @p is over: report it from when on it is proved. */
static void pause_judge(const struct bsa_fold *f, struct bsa_pause *p)
{
	uint64_t silent;

	if (p->idled || (p->waits && p->slept))
		p->fact.began = p->fact.heard;
	else if (p->published < p->fact.ended)
		p->fact.began = p->published > p->fact.heard ? p->published : p->fact.heard;
	else
		return;
	silent = p->fact.ended - p->fact.began;
	if (silent >= SILENT_LEAST_NS && p->cpu_most < silent / 2)
		f->facts.silence(f->facts.ctx, &p->fact);
}

void bsa_voices_prepared(struct bsa_fold *f, uint32_t connection, uint64_t began)
{
	struct bsa_voices *v = &f->voices;

	for (unsigned i = 0; i < v->n_pauses;)
		if (v->pauses[i].fact.instance == of_number(connection) && v->pauses[i].fact.ended > began)
			v->pauses[i] = v->pauses[--v->n_pauses];
		else
			i++;
}

void bsa_voices_over(struct bsa_fold *f, const struct bsa_exec *x)
{
	struct bsa_voices *v = &f->voices;

	for (unsigned i = 0; i < v->n_pauses;) {
		struct bsa_pause *p = &v->pauses[i];

		if (!pause_take(p, x) || p->n_unread || p->n_holders || p->ready) {
			i++;
			continue;
		}
		pause_judge(f, p);
		*p = v->pauses[--v->n_pauses];
	}
}

void bsa_voices_hear(struct bsa_fold *f, unsigned instance, const struct bsa_event *e)
{
	struct bsa_voices *v = &f->voices;
	uint64_t heard;

	assert(instance < BSA_INSTANCES);
	heard = v->heard[instance];

	if (heard && f->now > heard && f->now - heard >= SILENT_LEAST_NS)
		look_for_pause(f, instance);
	if (!heard)
		v->began[instance] = f->now;
	v->heard[instance] = f->now;
	if (e->kind == BSA_sched_preempt && bsa_mode_stalls(BSA_OF(e, sched_preempt)->mode))
		v->stalled[instance] = f->now;
	v->trace[instance] = f->trace;
	if (!heard && !v->n_heard++ && f->options.horizon_ns && f->now && bsa_event_is_repeated(e))
		bsa_fold_unknown(f, 0, f->now - 1); /* summaries that it wrote before were not recorded */
	if (heard && heard <= v->gap_began && f->now > v->gap_ended + 1) /* another service was heard before */
		bsa_fold_lose(f, v->gap_began, f->now - 1, BSA_LOSS_GAP);
	if (f->execs.n_silent_of[instance])
		bsa_execs_forget_silent(f, instance);
}

/* ---- services that are silent at the end ---- */

/* Since when the service of @x has had its request, and emitted nothing; BSA_NEVER: it need not have it. */
static uint64_t unheard_since(const struct bsa_fold *f, const struct bsa_exec *x)
{
	uint64_t written = x->fact.at[BSA_REQUEST_WRITTEN];
	uint64_t heard = x->sched.instance < BSA_INSTANCES ? f->voices.heard[x->sched.instance] : 0;

	if (written == BSA_NEVER || !heard)
		return BSA_NEVER;
	return written > heard ? written : heard;
}

struct bsa_awaited bsa_fold_awaited(const struct bsa_fold *f, uint64_t until)
{
	struct bsa_awaited ret = { 0 };
	uint64_t stalled = BSA_NEVER, run = 0;

	for (const struct bsa_link *l = f->execs.under_way.next; l != &f->execs.under_way; l = l->next) {
		const struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);
		uint64_t submitted = x->fact.at[BSA_SUBMITTED];

		if (!is_awaited(x) || submitted >= until || bsa_losses_touch(&f->losses, submitted, until))
			continue;
		ret.n++;
		ret.overdue += x->fact.deadline && x->fact.deadline < until;
		if (unheard_since(f, x) < stalled)
			stalled = unheard_since(f, x);
		if (estimate_of(x) > run)
			run = estimate_of(x);
		if (ret.submitted && ret.submitted <= submitted)
			continue;
		ret.submitted = submitted;
		ret.unheard = unheard_since(f, x) != BSA_NEVER ? unheard_since(f, x) : 0;
	}
	if (stalled < until && until - stalled >= SILENT_LEAST_NS && until - stalled >= SILENT_RUNS * run)
		ret.stalled = stalled;
	return ret;
}

static void report_silence(struct bsa_fold *f, unsigned i, const struct awaited *a)
{
	const struct bsa_voices *v = &f->voices;
	const struct bsa_service *s = bsa_table_find(&f->world.services, i);
	uint32_t failed = v->failed_after[i] == v->heard[i] ? v->n_failed[i] : 0;
	uint64_t began = !failed && a->since > v->heard[i] ? a->since : v->heard[i];
	uint64_t silent = f->now > began ? f->now - began : 0;

	if (!(a->n || failed) || v->answered[i] > v->heard[i] || silent < SILENT_LEAST_NS ||
	    silent < SILENT_RUNS * a->run || bsa_losses_touch(&f->losses, v->heard[i], f->now))
		return;
	bsa_schedule_set_silent(f->schedule, (uint16_t)i, began);
	f->facts.silence(f->facts.ctx, &(struct bsa_silence){ .began = began,
	                                                      .ended = f->now,
	                                                      .heard = v->heard[i],
	                                                      .execution = a->execution,
	                                                      .trace = v->trace[i],
	                                                      .process = s ? s->rules.process : 0,
	                                                      .awaited = a->n,
	                                                      .failed = failed,
	                                                      .instance = (uint16_t)i });
}

void bsa_voices_finish(struct bsa_fold *f)
{
	struct awaited *awaited = bsa_fold_alloc(f, BSA_INSTANCES * sizeof(*awaited));
	struct bsa_voices *v = &f->voices;

	for (struct bsa_link *l = f->execs.under_way.next; awaited && l != &f->execs.under_way; l = l->next) {
		const struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);
		unsigned i = x->sched.instance & (BSA_INSTANCES - 1);

		if (!v->heard[i] || !is_awaited(x))
			continue;
		await(&awaited[i], x);
		if (v->untold[i] <= v->heard[i] && !v->hangs[i])
			v->hangs[i] = bsa_fold_recorded_until(f, v->trace[i]);
	}
	for (unsigned i = 0; awaited && f->facts.silence && i < BSA_INSTANCES; i++)
		if (v->heard[i])
			report_silence(f, i, &awaited[i]);
	free(awaited);
}

uint64_t bsa_voice_ended(const struct bsa_fold *f, unsigned instance)
{
	uint64_t heard = instance < BSA_INSTANCES ? f->voices.heard[instance] : 0;

	if (heard && f->voices.hangs[instance] > heard)
		heard = f->voices.hangs[instance];
	return !heard || bsa_losses_touch(&f->losses, heard, f->now) ? f->now : heard;
}
