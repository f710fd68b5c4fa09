/*
 * exec.c -- the executions under way: created by their first event, reported when no further event is
 * expected and the schedule has taken their last step.
 */
#include "fold/inside.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SLAB = 64,                 /* executions */
	MISS_SLAB = 256,           /* lookups that missed */
	MISSES_MAX = 1 << 16,      /* limit of misses kept; further ones are reported at once, without their costs */
	PASSED = 2,                /* later ones of its stream prove that one is over, */
	PASSED_CALLS = 4096,       /* or, where several may be under way, make that likely */
	NEARBY_NS = 100000000,     /* how long before what is seen of it an execution may have begun */
	ATTACHING_NS = 1000000000, /* how long after its begin a session may reach a process for the first time */
	INSTANCE_SHIFT = 20 + 32,  /* position of the service's instance in an execution's number */
	SEQ_BITS = 32,
	LONE_FEW = 8 /* a stream with so many executions of one event each is reported */
};

struct bsa_slab {
	struct bsa_slab *next;
	struct bsa_exec execs[SLAB];
};

struct bsa_miss_slab {
	struct bsa_miss_slab *next;
	struct bsa_slot_miss misses[MISS_SLAB];
};

int bsa_execs_init(struct bsa_execs *xs)
{
	bsa_list_init(&xs->under_way);
	bsa_list_init(&xs->waiting);
	return bsa_table_init(&xs->table);
}

static void drop_list(struct bsa_fold *f, struct bsa_link *list)
{
	struct bsa_link *l;

	while (list->next && (l = bsa_list_first(list))) {
		struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);

		bsa_list_remove(l);
		bsa_stream_lost_one(f, x->stream, true);
	}
}

void bsa_execs_fini(struct bsa_fold *f)
{
	struct bsa_execs *xs = &f->execs;

	drop_list(f, &xs->under_way);
	drop_list(f, &xs->waiting);
	for (struct bsa_slab *s = xs->slabs, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	for (struct bsa_miss_slab *s = xs->miss_slabs, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	bsa_table_fini(&xs->table);
}

/* ---- lookups that missed ---- */

static void report_miss(const struct bsa_fold *f, const struct bsa_exec *x, const struct bsa_slot_miss *m)
{
	struct bsa_slot_missed fact = {
		.execution = x->fact.id, .at = m->at, .fetch_ns = x->fetch_ns, .map_ns = m->map_ns, .slot = m->slot
	};

	f->facts.slot_missed(f->facts.ctx, &fact);
}

void bsa_exec_missed_slot(struct bsa_fold *f, struct bsa_exec *x, int32_t slot)
{
	struct bsa_slot_miss miss = { .at = f->at, .map_ns = BSA_NEVER, .slot = slot }, *m;

	if (f->execs.n_misses >= MISSES_MAX) {
		report_miss(f, x, &miss);
		return;
	}
	if (!f->execs.spare_misses) {
		struct bsa_miss_slab *s = bsa_fold_alloc(f, sizeof(*s));

		if (!s)
			return;
		s->next = f->execs.miss_slabs;
		f->execs.miss_slabs = s;
		for (size_t i = 0; i < MISS_SLAB; i++) {
			s->misses[i].next = f->execs.spare_misses;
			f->execs.spare_misses = &s->misses[i];
		}
	}
	m = f->execs.spare_misses;
	f->execs.spare_misses = m->next;
	f->execs.n_misses++;
	*m = miss;
	m->next = x->slot_misses;
	x->slot_misses = m;
}

/* Report the misses of @x in the order of their times. The list has the last one first. */
static void report_misses(struct bsa_fold *f, struct bsa_exec *x)
{
	struct bsa_slot_miss *in_order = NULL, *m;

	while ((m = x->slot_misses)) {
		x->slot_misses = m->next;
		m->next = in_order;
		in_order = m;
	}
	while ((m = in_order)) {
		in_order = m->next;
		report_miss(f, x, m);
		m->next = f->execs.spare_misses;
		f->execs.spare_misses = m;
		assert(f->execs.n_misses);
		f->execs.n_misses--;
	}
}

static bool note_mapping(struct bsa_exec *x, int32_t slot, uint64_t took_ns)
{
	if (x->fact.at[BSA_ENQUEUED] != BSA_NEVER || x->fact.at[BSA_RUN_ENDED] != BSA_NEVER)
		return false; /* the execution does not look for slots any more */
	for (struct bsa_slot_miss *m = x->slot_misses; m; m = m->next)
		if (m->slot == slot && m->map_ns == BSA_NEVER) {
			m->map_ns = took_ns;
			return true;
		}
	return false;
}

void bsa_exec_mapped(struct bsa_fold *f, struct bsa_stream_known *s, uint64_t exec, int32_t slot, uint64_t took_ns)
{
	struct bsa_exec *x = exec ? bsa_table_find(&f->execs.table, exec) : NULL;

	if (x)
		note_mapping(x, slot, took_ns);
	else if (s)
		for (struct bsa_link *l = s->execs.prev; l != &s->execs; l = l->prev)
			if (note_mapping(BSA_LINKED(l, struct bsa_exec, of_stream), slot, took_ns))
				return;
}

/* ---- the end of executions ---- */

/*
 * The last recorded boundary before @x was ready, or the end of the execution before it in a serial stream:
 * @x became ready later.
 */
static uint64_t ready_after(const struct bsa_exec *x)
{
	uint64_t last = bsa_stream_is_serial(x->stream) ? x->stream->quiet_since : x->stream->fact.opened;

	if (last == BSA_NEVER)
		last = 0;
	for (int b = BSA_SUBMITTED; b < BSA_ENQUEUED; b++)
		if (x->fact.at[b] != BSA_NEVER && x->fact.at[b] > last)
			last = x->fact.at[b];
	return last;
}

/* Report that @x may have waited from @since until now, or until the recording's end. */
static void may_have_waited(struct bsa_fold *f, const struct bsa_exec *x, uint64_t since)
{
	if (bsa_schedule_report_possible(f->schedule, &x->sched, since, bsa_fold_goes_on_until(f)))
		f->failed = -ENOMEM;
}

void bsa_exec_died(struct bsa_fold *f, struct bsa_exec *x)
{
	bool began = x->fact.at[BSA_REQUEST_READ] != BSA_NEVER;
	uint64_t after = ready_after(x), hole = bsa_losses_begin(&f->losses, began ? after : 0);

	if (x->scheduled)
		return;
	if (!began && (hole >= f->now || after <= f->began)) /* it was perhaps ready before the recording */
		may_have_waited(f, x, BSA_NEVER);
	else if (hole < f->now)
		may_have_waited(f, x, hole);
}

void bsa_exec_step(struct bsa_fold *f, struct bsa_exec *x, enum bsa_step step, uint64_t at, uint8_t lane)
{
	const struct bsa_stream_known *s = x->stream;

	if (f->losses.n || !x->scheduled)
		x->sched.ready_after = ready_after(x);
	/*
	 * In a serial stream an execution is over when the next one begins, and in any stream when the stream
	 * is closed.
	 */
	if (step == BSA_STEP_FORGET)
		x->sched.known_over = s->closed || (bsa_stream_is_serial(s) && s->newest > (uint32_t)x->fact.exec);
	x->placed = step != BSA_STEP_END && step != BSA_STEP_FORGET && step != BSA_STEP_REFUSED && step != BSA_STEP_CUT;
	x->scheduled |= x->placed;
	x->end_noted |= step == BSA_STEP_END;
	if (at > x->noted_until)
		x->noted_until = at;
	if (__builtin_expect(f->numbers.n_holes && bsa_schedule_is_full(f->schedule), 0))
		bsa_numbers_judge(f, true);
	if (bsa_schedule_step(f->schedule, &x->sched, step, at, lane))
		f->failed = -ENOMEM;
}

void bsa_exec_report_stop(const struct bsa_fold *f, struct bsa_exec *x, uint64_t resumed)
{
	x->stop.resumed = resumed;
	f->facts.preemption(f->facts.ctx, &x->stop);
	x->off = false;
}

uint64_t bsa_exec_first_seen(const struct bsa_exec *x)
{
	uint64_t first = BSA_NEVER;

	for (int b = 0; b < BSA_BOUNDARIES; b++) /* without a branch: which of them were seen cannot be foreseen */
		first = x->fact.at[b] < first ? x->fact.at[b] : first;
	return first;
}

uint64_t bsa_exec_last_seen(const struct bsa_exec *x)
{
	uint64_t last = 0;

	for (int b = 0; b < BSA_BOUNDARIES; b++)
		if (x->fact.at[b] != BSA_NEVER && x->fact.at[b] > last)
			last = x->fact.at[b];
	return last;
}

/*
 * When @x was over at the latest, if it was answered well. BSA_NEVER: unknown, or it failed. The answer to a
 * launch ends nothing.
 */
static uint64_t answered_at(const struct bsa_exec *x)
{
	static const uint8_t ends[] = { BSA_RUN_ENDED, BSA_SIGNALLED, BSA_RESULT_WRITTEN, BSA_RESULT_READ,
		                        BSA_RETURNED };
	bool launch = bsa_exec_launched(x) || bsa_exec_may_be_launch(x);

	for (size_t i = 0; i < (launch ? 2 : sizeof(ends)) && x->fact.status == BSA_STATUS_NONE; i++)
		if (x->fact.at[ends[i]] != BSA_NEVER)
			return x->fact.at[ends[i]];
	return BSA_NEVER;
}

static void exec_free(struct bsa_fold *f, struct bsa_exec *x)
{
	struct bsa_execs *xs = &f->execs;

	bsa_table_remove(&xs->table, &x->entry);
	bsa_list_remove(&x->under_way);
	if (xs->last == x)
		xs->last = NULL;
	x->entry.next = (struct bsa_entry *)xs->spare;
	xs->spare = x;
	assert(xs->n && bsa_scheduled_idle(&x->sched) && !x->slot_misses);
	xs->n--;
	bsa_stream_lost_one(f, x->stream, false);
}

/*
 * @x has no recorded beginning. Where the service emitted all since it took the request, in the recording:
 * when was the app recorded?
 */
static void count_headless(struct bsa_fold *f, const struct bsa_exec *x)
{
	const uint64_t *at = x->fact.at;
	struct bsa_stream_known *s = x->stream;

	if (at[BSA_REQUEST_READ] == BSA_NEVER || at[BSA_REQUEST_READ] < f->began || at[BSA_ENQUEUED] == BSA_NEVER) {
		f->left_out.inside += s->fact.opened != BSA_NEVER && s->fact.opened >= f->began;
	} else if (s->client_at >= at[BSA_REQUEST_READ]) {
		f->left_out.not_yet++;
	} else {
		f->left_out.no_more++;
		s->n_no_more++;
	}
}

/*
 * The client of @s is recorded at this time. So the executions counted as no_more began before its recording
 * resumed: count them as not_yet.
 */
static void note_client(struct bsa_fold *f, struct bsa_stream_known *s)
{
	assert(f->left_out.no_more >= s->n_no_more);
	f->left_out.no_more -= s->n_no_more;
	f->left_out.not_yet += s->n_no_more;
	s->n_no_more = 0;
	s->client_at = f->now;
}

/* An app asked for it, or was answered: it is no trial run, whatever its stream is. */
static bool has_request(const struct bsa_exec *x)
{
	for (enum bsa_boundary b = 0; b < BSA_BOUNDARIES; b++)
		if ((b < BSA_ENQUEUED || b > BSA_RUN_ENDED) && x->fact.at[b] != BSA_NEVER)
			return true;
	return false;
}

/* Whether an answer, or a request, is all that is known of @x. */
static bool is_lone(const struct bsa_exec *x)
{
	unsigned n = 0;

	for (enum bsa_boundary b = 0; b < BSA_BOUNDARIES; b++)
		n += x->fact.at[b] != BSA_NEVER;
	return n == 1 && !x->scheduled && has_request(x);
}

/* An execution has its stream if that is reported, now at the latest. */
static void find_stream(struct bsa_fold *f, struct bsa_exec *x)
{
	struct bsa_stream_known *s = x->stream;

	if (s->unnamed && (!is_lone(x) || s->fact.executions + 1 >= LONE_FEW))
		bsa_stream_name(f, s);
	if (!s->unnamed)
		return;
	x->fact.stream = 0;
	f->left_out.streamless++;
}

/* Whether the service alone emitted events of @x, although its client was recorded earlier. */
static bool is_unasked(const struct bsa_exec *x)
{
	const struct bsa_stream_known *s = x->stream;
	uint8_t heard = s->heard | (s->connection ? s->connection->heard : 0);

	return !bsa_exec_is_trial(x) && !x->late_start && !(x->heard & BSA_HEARD_CLIENT) &&
	       x->fact.at[BSA_REQUEST_READ] != BSA_NEVER && heard & BSA_HEARD_CLIENT;
}

static bool has_unasked(const struct bsa_link *list, uint32_t trace, uint64_t after)
{
	for (const struct bsa_link *l = list->next; l != list; l = l->next) {
		const struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);

		if (is_unasked(x) && x->fact.trace == trace && x->fact.at[BSA_REQUEST_READ] > after)
			return true;
	}
	return false;
}

bool bsa_fold_began_unasked(const struct bsa_fold *f, uint32_t trace, uint64_t after)
{
	return (f->unasked.trace == trace && f->unasked.began > after) ||
	       has_unasked(&f->execs.under_way, trace, after) || has_unasked(&f->execs.waiting, trace, after);
}

/* Its wait is certain, though its summary came too late for the schedule: the holders of the lanes are unknown. */
static void report_late_starved(struct bsa_fold *f, const struct bsa_exec *x)
{
	uint64_t most = f->options.starvation_ns ? f->options.starvation_ns : BSA_FOLD_STARVATION_NS;

	if (x->fact.queue > most)
		f->facts.starved(f->facts.ctx, &(struct bsa_starved){ .execution = x->fact.id,
		                                                      .began = x->fact.at[BSA_ENQUEUED],
		                                                      .gap = x->fact.queue,
		                                                      .app = x->fact.app,
		                                                      .model = x->fact.model });
}

static void report_exec(struct bsa_fold *f, struct bsa_exec *x)
{
	uint64_t last, ready;
	struct bsa_stream_known *s = x->stream;

	if (x->off)
		bsa_exec_report_stop(f, x, BSA_NEVER);
	report_misses(f, x);
	bsa_exec_judge(f, x);
	find_stream(f, x);
	ready = x->fact.at[BSA_ENQUEUED];
	if (x->late && (!x->scheduled || x->found_on) && ready != BSA_NEVER && x->fact.queue &&
	    x->fact.queue != BSA_NEVER) {
		/* The summary of @x arrived too late for the schedule, which would otherwise report the wait. */
		struct bsa_wait wait = { .execution = x->fact.id,
			                 .began = ready,
			                 .ended = ready + x->fact.queue,
			                 .kind = BSA_WAIT_QUEUE,
			                 .lane = BSA_LANE_NONE,
			                 .occupancy = BSA_UNKNOWN,
			                 .cause = BSA_CAUSE_UNKNOWN };

		f->facts.wait(f->facts.ctx, &wait);
		report_late_starved(f, x);
	}
	f->facts.execution(f->facts.ctx, &x->fact);
	if (f->voices.n_pauses)
		bsa_voices_over(f, x);
	if (x->fact.quality == BSA_QUALITY_HEAD && !bsa_exec_is_trial(x))
		count_headless(f, x);
	if (x->fact.quality == BSA_QUALITY_HEAD && is_unasked(x))
		f->unasked = (struct bsa_unasked){ x->fact.at[BSA_REQUEST_READ], x->fact.trace };

	if (!x->numbered && answered_at(x) != BSA_NEVER) {
		/* The earliest recorded time at which the service of @x was there. */
		uint64_t first = bsa_exec_first_seen(x), opened = s->fact.opened; /* BSA_NEVER: unknown */

		bsa_numbers_answered(f, x->sched.instance, opened < first ? opened : first, answered_at(x));
	}

	/* The stream has one more that is over. */
	last = bsa_exec_last_seen(x);
	s->fact.executions++;
	if (x->fact.path == BSA_PATH_BURST && x->fact.cold < 0)
		s->fact.cold = BSA_NEVER;
	else if (s->fact.cold != BSA_NEVER)
		s->fact.cold += x->fact.cold > 0;
	if (x->fact.at[BSA_SUBMITTED] < s->fact.first)
		s->fact.first = x->fact.at[BSA_SUBMITTED];
	if (x->fact.quality == BSA_QUALITY_OPEN && !bsa_exec_was_left(x)) /* its client waits for no answer */
		s->fact.last = BSA_NEVER;
	else if (last > s->fact.last)
		s->fact.last = last;
	if (bsa_stream_is_serial(s) && last > s->quiet_since)
		s->quiet_since = last;
	bsa_stream_over(f, s, (uint32_t)x->fact.exec);
	exec_free(f, x);
}

/*
 * Whether the service has emitted no event since a time at which @x was certainly under way: the service may
 * not be recorded any more.
 */
static bool is_silent(const struct bsa_fold *f, const struct bsa_exec *x)
{
	return f->voices.heard[x->sched.instance & (BSA_INSTANCES - 1)] < f->now &&
	       !bsa_losses_touch(&f->losses, x->noted_until, f->now);
}

static void end_silence(struct bsa_fold *f, struct bsa_exec *x)
{
	assert(x->silent && f->execs.n_silent && f->execs.n_silent_of[x->sched.instance & (BSA_INSTANCES - 1)]);
	x->silent = false;
	f->execs.n_silent--;
	f->execs.n_silent_of[x->sched.instance & (BSA_INSTANCES - 1)]--;
}

/*
 * No event of the end of @x will arrive: when was it over at the latest? A later event of its stream proves that, or
 * a good answer. A failure proves nothing: a client gives a call up, too, while the service still has it. 0: unknown
 * yet.
 */
static uint64_t over_by(const struct bsa_fold *f, const struct bsa_exec *x)
{
	bool launch = x->fact.path == BSA_PATH_FENCED || bsa_exec_may_be_launch(x);

	if (x->returned == BSA_STATUS_NONE && x->fact.at[BSA_RETURNED] != BSA_NEVER && !launch)
		return x->fact.at[BSA_RETURNED];
	if (bsa_exec_is_passed(x))
		return f->now;
	return f->finished ? bsa_fold_goes_on_until(f) : 0;
}

/* No event of the end of @x will arrive: end it in the schedule, unless the service may still emit events. */
static void end_unseen(struct bsa_fold *f, struct bsa_exec *x)
{
	uint64_t ended = bsa_voice_ended(f, x->sched.instance);
	bool silent = is_silent(f, x);

	if (!x->sched.over_by)
		x->sched.over_by = over_by(f, x);
	if (x->sched.over_by && x->sched.over_by < ended) /* answered, and then its service hung until the end */
		ended = x->sched.over_by;
	if (!f->finished && silent) {
		assert(!x->silent);
		x->silent = true;
		f->execs.n_silent++;
		f->execs.n_silent_of[x->sched.instance & (BSA_INSTANCES - 1)]++;
	} else if (f->finished && (silent || !bsa_exec_is_passed(x))) {
		bsa_exec_step(f, x, BSA_STEP_CUT, ended > x->noted_until ? ended : x->noted_until, BSA_LANE_NONE);
	} else {
		bsa_exec_step(f, x, BSA_STEP_FORGET, f->now, BSA_LANE_NONE);
	}
}

void bsa_execs_forget_silent(struct bsa_fold *f, unsigned instance)
{
	const uint32_t *n = instance == BSA_NO_INSTANCE ? &f->execs.n_silent : &f->execs.n_silent_of[instance];

	for (struct bsa_link *l = f->execs.waiting.next; l != &f->execs.waiting && *n; l = l->next) {
		struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);

		if (!x->silent || (instance != BSA_NO_INSTANCE && x->sched.instance != instance))
			continue;
		end_silence(f, x);
		bsa_exec_step(f, x, BSA_STEP_FORGET, f->now, BSA_LANE_NONE);
	}
}

/*
 * Holes hide every step of @x, of which other events of full detail are known: it may have waited from the first hole
 * to the last. Within one hole, nothing need be said.
 */
static void steps_are_hidden(struct bsa_fold *f, const struct bsa_exec *x)
{
	bool launch = bsa_exec_launched(x) || bsa_exec_may_be_launch(x);
	uint64_t over = x->fact.at[launch ? BSA_SIGNALLED : BSA_RESULT_WRITTEN], after = ready_after(x),
		 from = bsa_losses_begin(&f->losses, after), until = f->now;
	const struct bsa_span *hole = bsa_losses_from(&f->losses, after);

	if (over < f->now || bsa_exec_is_passed(x))
		until = bsa_losses_end(&f->losses, over < f->now ? over : f->now);
	if (from >= until || hole->ended >= until)
		return;
	if (bsa_schedule_report_possible(f->schedule, &x->sched, from, until))
		f->failed = -ENOMEM;
}

/* No further event of @x is expected: report it when the schedule has taken its last step. */
static void exec_conclude(struct bsa_fold *f, struct bsa_exec *x)
{
	if (x->found_queued && !x->has_service && !x->has_client)
		x->fact.at[BSA_ENQUEUED] = x->sched.found_since;
	if (f->facts.over) {
		/* Report @x as far as it is known now. Later more may be known. Contradictions are counted later,
		 * once. */
		const struct bsa_left_out left_out = f->left_out;
		struct bsa_exec now = *x;

		bsa_exec_judge(f, &now);
		f->left_out = left_out;
		f->facts.over(f->facts.ctx, &now.fact);
	}
	if (x->placed)
		end_unseen(f, x);
	if (x->found_waiting && !x->scheduled && !x->has_service)
		may_have_waited(f, x, x->sched.found_since ? x->sched.found_since : BSA_NEVER);
	else if (f->full && !x->scheduled && !x->end_noted && !x->has_service &&
	         x->fact.at[BSA_REQUEST_READ] != BSA_NEVER)
		steps_are_hidden(f, x);
	assert(!x->over);
	x->over = true;
	bsa_list_remove(&x->of_stream);
	if (bsa_scheduled_idle(&x->sched) && !bsa_list_first(&f->execs.waiting)) {
		report_exec(f, x);
		return;
	}
	bsa_list_remove(&x->under_way);
	bsa_list_add(&f->execs.waiting, &x->under_way);
}

static void report_settled(struct bsa_fold *f)
{
	struct bsa_link *l;

	while ((l = bsa_list_first(&f->execs.waiting))) {
		struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);

		if (!bsa_scheduled_idle(&x->sched)) /* the schedule has not taken its last step */
			break;
		report_exec(f, x);
	}
}

void bsa_execs_conclude(struct bsa_fold *f, struct bsa_stream_known *s)
{
	struct bsa_link *l;

	while ((l = bsa_list_first(&s->execs))) {
		struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, of_stream);

		x->passed = true;
		exec_conclude(f, x);
	}
}

void bsa_execs_over(struct bsa_fold *f, struct bsa_stream_known *s, const struct bsa_exec *next)
{
	for (struct bsa_link *l = s->execs.next; l != &s->execs; l = l->next) {
		struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, of_stream);

		if (x != next && x->placed && (!next || x->fact.exec < next->fact.exec) && !is_silent(f, x))
			bsa_exec_step(f, x, BSA_STEP_FORGET, f->now, BSA_LANE_NONE);
	}
}

void bsa_execs_reported(struct bsa_stream_known *s)
{
	for (struct bsa_link *l = s->execs.next; l != &s->execs; l = l->next) {
		struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, of_stream);

		if (x->fact.path == BSA_PATH_UNKNOWN && (s->fact.path != BSA_PATH_PREPARE || !has_request(x)))
			x->fact.path = s->fact.path;
		if (!x->fact.app)
			x->fact.app = x->sched.app = s->fact.app;
		if (!x->fact.model)
			x->fact.model = x->sched.model = s->fact.model;
	}
}

/* ---- whether an execution is over ---- */

bool bsa_exec_is_passed(const struct bsa_exec *x)
{
	const struct bsa_stream_known *s = x->stream;

	return x->passed || s->closed ||
	       s->newest - (uint32_t)x->fact.exec >= (bsa_stream_is_serial(s) ? PASSED : PASSED_CALLS);
}

static bool is_heard(const struct bsa_exec *x, uint8_t side)
{
	const struct bsa_stream_known *s = x->stream;

	return (s->heard | (s->connection ? s->connection->heard : 0)) & side;
}

static bool has_boundary(const struct bsa_exec *x, enum bsa_boundary b)
{
	return x->fact.at[b] != BSA_NEVER;
}

/* Whether a successful return may be that of a fenced launch, whose execution goes on. */
static bool is_launch(const struct bsa_exec *x)
{
	return x->fact.path == BSA_PATH_FENCED || bsa_exec_may_be_launch(x);
}

static bool client_is_done(const struct bsa_fold *f, const struct bsa_exec *x)
{
	if (!has_boundary(x, BSA_RETURNED))
		return false;
	if (x->returned != BSA_STATUS_NONE)
		return (has_boundary(x, BSA_RUN_ENDED) && has_boundary(x, BSA_RESULT_WRITTEN)) ||
		       !is_heard(x, BSA_HEARD_SERVICE);
	/*
	 * A launch is also over if no event of its service will arrive. A session that begins reaches one
	 * process after the other: the service of a launch may be heard some time after its client, and then
	 * reports the execution that is under way.
	 */
	return !is_launch(x) || has_boundary(x, BSA_SIGNALLED) ||
	       (!is_heard(x, BSA_HEARD_SERVICE) && !f->voices.heard[x->sched.instance & (BSA_INSTANCES - 1)] &&
	        f->now - f->began > ATTACHING_NS);
}

bool bsa_exec_lost_before(const struct bsa_fold *f, const struct bsa_exec *x, uint64_t at)
{
	uint64_t first = bsa_exec_first_seen(x), quiet = x->stream->quiet_since,
		 near = first > NEARBY_NS ? first - NEARBY_NS : 0,
		 from = near > quiet ? near : quiet; /* the earliest time at which @x can have begun */

	return from <= at && bsa_losses_touch(&f->losses, from, at);
}

/* Whether the service's side is complete, and the client's side is not recorded. */
static bool service_is_done(const struct bsa_fold *f, const struct bsa_exec *x)
{
	struct bsa_stream_known *s = x->stream;

	if (is_heard(x, BSA_HEARD_CLIENT) || x->late_start || !has_boundary(x, BSA_RESULT_WRITTEN))
		return false;
	if (is_launch(x) && !has_boundary(x, BSA_SIGNALLED))
		return false;
	/*
	 * A client from before the trace may not have had an event yet: it is absent only if its first answer
	 * was not read for some time.
	 */
	if (s->quiet_since < f->began) {
		if (!s->answered)
			s->answered = f->now;
		if (f->now - s->answered <= NEARBY_NS)
			return false;
	}
	return !bsa_exec_lost_before(f, x, f->now);
}

/* Whether its client left it, and no end of it was recorded: the service may still have it. */
static bool is_left_alone(const struct bsa_exec *x)
{
	return bsa_exec_was_left(x) && is_heard(x, BSA_HEARD_SERVICE) && !x->has_service &&
	       !has_boundary(x, BSA_RUN_ENDED);
}

/* Whether an end of @x was recorded: its other events follow soon. */
static bool is_ending(const struct bsa_exec *x)
{
	return bsa_exec_is_passed(x) || x->has_service || has_boundary(x, BSA_SIGNALLED) ||
	       (bsa_exec_is_trial(x) && has_boundary(x, BSA_RUN_ENDED)) ||
	       (has_boundary(x, BSA_RETURNED) && (!is_launch(x) || x->returned != BSA_STATUS_NONE) &&
	        !is_left_alone(x));
}

void bsa_exec_look_over(struct bsa_fold *f, struct bsa_exec *x)
{
	if (bsa_exec_is_trial(x)) {
		if (f->options.horizon_ns ? x->has_service : has_boundary(x, BSA_RUN_ENDED))
			exec_conclude(f, x);
		return;
	}
	if (f->options.horizon_ns ? x->has_client && x->has_service : client_is_done(f, x) || service_is_done(f, x))
		exec_conclude(f, x);
}

void bsa_execs_advance(struct bsa_fold *f)
{
	struct bsa_link *l;

	/* With summaries: conclude the executions that end and have had no event for a horizon. */
	while (f->options.horizon_ns && (l = bsa_list_first(&f->execs.under_way))) {
		struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);

		if (f->now - x->last <= f->options.horizon_ns)
			break;
		if (is_ending(x)) {
			exec_conclude(f, x);
			continue;
		}
		x->last = f->now; /* check it again after another horizon */
		bsa_list_remove(l);
		bsa_list_add(&f->execs.under_way, l);
	}
	report_settled(f);
}

/*
 * Whether only summaries were recorded, and @x has none yet, so that its lane and its waits are unknown. A
 * return to the client proves that @x is over, unless @x is a launch, or its client left it.
 */
static bool is_unsummed(const struct bsa_fold *f, const struct bsa_exec *x)
{
	return f->options.horizon_ns && !f->full && !x->has_service && !bsa_exec_is_passed(x) &&
	       (!has_boundary(x, BSA_RETURNED) || is_launch(x) || is_left_alone(x));
}

/*
 * The recording of a service ends at @ended, and executions that are over may lack their summaries. The other
 * summaries suggest that one is written within twice @latest_written after the execution's last boundary.
 * @after: these executions began later.
 */
static void doubt_until(struct bsa_fold *f, uint64_t after, uint64_t ended)
{
	uint64_t slack = 2 * f->latest_written, late = ended > slack ? ended - slack : 0;

	if (bsa_schedule_set_unsummed(f->schedule, after, after > late ? after : late, ended))
		f->failed = -ENOMEM;
}

/*
 * @x became ready later than this. Executions that were ready before have summaries, or their summaries were
 * lost in a hole.
 */
static uint64_t unsummed_ready_after(const struct bsa_fold *f, const struct bsa_exec *x)
{
	uint64_t ready = ready_after(x), complete = bsa_numbers_complete_until(f, x->sched.instance);

	return ready > complete ? ready : complete;
}

/* Whether @x returned to the client, and the service had not written its summary by its last event. */
static bool is_unserved(const struct bsa_fold *f, const struct bsa_exec *x)
{
	return f->options.horizon_ns && !f->full && !x->has_service && has_boundary(x, BSA_RETURNED) && !is_launch(x) &&
	       !is_left_alone(x) && f->voices.heard[x->sched.instance & (BSA_INSTANCES - 1)] &&
	       ready_after(x) < bsa_voice_ended(f, x->sched.instance);
}

/* Executions that became ready later than this may be under way without a summary; BSA_NEVER: no execution is. */
static uint64_t first_unsummed(const struct bsa_fold *f)
{
	uint64_t after = bsa_streams_under_way_after(f);

	for (struct bsa_link *l = f->execs.under_way.next; l != &f->execs.under_way; l = l->next) {
		const struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);
		uint64_t ready = is_unsummed(f, x) ? unsummed_ready_after(f, x) : BSA_NEVER;

		after = ready < after ? ready : after;
	}
	return after;
}

/* Executions under way at the end have no summary yet. */
static void doubt_the_end(struct bsa_fold *f)
{
	uint64_t after = first_unsummed(f);

	if (f->execs.doubts_passed && f->known >= f->now) /* all lanes until now were reported */
		return;
	for (struct bsa_link *l = f->execs.under_way.next; l != &f->execs.under_way; l = l->next) {
		const struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);
		uint64_t ready = is_unsummed(f, x) ? unsummed_ready_after(f, x) : BSA_NEVER, from = ready_after(x);

		/* The lane time of @x is unknown; it was over when it returned. */
		if (is_unserved(f, x) && bsa_schedule_set_unsummed(f->schedule, from, from, x->fact.at[BSA_RETURNED]))
			f->failed = -ENOMEM;
		if (is_unsummed(f, x) && (!x->scheduled || x->found_on) && ready < f->now)
			may_have_waited(f, x, ready > f->began ? ready : BSA_NEVER);
	}
	if (after > f->now)
		return;
	doubt_until(f, after > f->known ? after : f->known + 1, f->now);
	for (unsigned i = 0; i < BSA_INSTANCES; i++)
		if (f->voices.heard[i])
			doubt_until(f, after, bsa_voice_ended(f, i));
}

void bsa_execs_quiet(struct bsa_fold *f, bool for_long)
{
	uint64_t known = f->now, after;

	if (f->execs.quiet_at[for_long] == f->now)
		return;
	f->execs.quiet_at[for_long] = f->now;
	for (struct bsa_link *l = f->execs.under_way.next, *next; l != &f->execs.under_way; l = next) {
		struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);

		next = l->next;
		if (x->has_service && is_ending(x))
			exec_conclude(f, x);
	}

	/* The end of the records may find that lanes are unknown from there on. */
	after = first_unsummed(f);
	for (struct bsa_link *l = f->execs.under_way.next; l != &f->execs.under_way; l = l->next) {
		const struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);

		if (is_unserved(f, x) && ready_after(x) < after)
			after = ready_after(x);
	}
	if (after <= known && for_long)
		f->execs.doubts_passed = true;
	else if (after <= known)
		known = after ? after - 1 : 0;
	if (known > f->known) {
		f->known = known;
		if (bsa_schedule_advance(f->schedule, known))
			f->failed = -ENOMEM;
	}
	if (!f->failed)
		report_settled(f);
}

void bsa_execs_finish(struct bsa_fold *f)
{
	struct bsa_link *l;

	bsa_numbers_judge(f, false);
	if (f->n_given_up && bsa_schedule_report_possible(f->schedule, &(const struct bsa_scheduled){ .id = 0 },
	                                                  f->given_up_ready, bsa_fold_goes_on_until(f)))
		f->failed = -ENOMEM;
	doubt_the_end(f);

	/* As far as is known, the silent executions were under way at their services' last events. */
	for (l = f->execs.waiting.next; l != &f->execs.waiting && f->execs.n_silent; l = l->next) {
		struct bsa_exec *x = BSA_LINKED(l, struct bsa_exec, under_way);

		if (!x->silent)
			continue;
		end_silence(f, x);
		end_unseen(f, x);
	}
	while ((l = bsa_list_first(&f->execs.under_way)))
		exec_conclude(f, BSA_LINKED(l, struct bsa_exec, under_way));
	if (!f->failed && bsa_schedule_advance(f->schedule, f->now))
		f->failed = -ENOMEM;
	if (!f->failed) {
		report_settled(f); /* sets the time until which each stream was busy */
		bsa_streams_hidden(f);
	}
	for (unsigned i = 0; i < BSA_INSTANCES; i++)
		bsa_schedule_set_end(f->schedule, (uint16_t)i, bsa_voice_ended(f, i));
	if (!f->failed && bsa_schedule_finish(f->schedule, f->now))
		f->failed = -ENOMEM;
	if (!f->failed)
		report_settled(f);
}

/* ---- new executions ---- */

/* Take all steps noted up to @until, although earlier ones may still arrive. */
static void take_all_noted(struct bsa_fold *f, uint64_t until)
{
	bsa_numbers_judge(f, true);
	if (until > f->known)
		f->known = until;
	if (bsa_schedule_advance(f->schedule, f->known))
		f->failed = -ENOMEM;
	report_settled(f);
}

static bool has_no_room(const struct bsa_fold *f)
{
	return f->execs.n >= f->options.under_way_max || (f->execs.n >= BSA_UNDER_WAY_FEW && bsa_fold_is_crowded(f));
}

/* Free at least one execution: first those that only wait for the schedule, otherwise the oldest one under way. */
static void execs_make_room(struct bsa_fold *f)
{
	struct bsa_link *l;
	struct bsa_exec *x;

	if (f->execs.n_silent)
		bsa_execs_forget_silent(f, BSA_NO_INSTANCE);
	while (!f->failed && has_no_room(f) && (l = bsa_list_first(&f->execs.waiting)))
		take_all_noted(f, BSA_LINKED(l, struct bsa_exec, under_way)->noted_until);
	if (f->failed || !has_no_room(f))
		return;
	x = BSA_LINKED(bsa_list_first(&f->execs.under_way), struct bsa_exec, under_way);
	x->evicted = true;
	f->left_out.evicted++;
	exec_conclude(f, x);
	take_all_noted(f, f->now);
}

static void exec_init(struct bsa_fold *f, struct bsa_exec *x, uint64_t exec, const struct bsa_stream_known *s)
{
	struct bsa_execution *fact = &x->fact;

	memset(x, 0, sizeof(*x));
	memset(fact->at, 0xff, offsetof(struct bsa_execution, deadline) - offsetof(struct bsa_execution, at));
	fact->id = ++f->last.execution;
	fact->exec = exec;
	fact->trace = f->trace;
	fact->stream = s->fact.id;
	fact->app = s->fact.app;
	fact->model = s->fact.model;
	fact->path = s->fact.path;
	fact->estimate = fact->missed_at = BSA_NEVER;
	fact->priority = fact->status = fact->fallback = 255;
	x->sched.id = fact->id;
	x->sched.app = fact->app;
	x->sched.model = fact->model;
	x->sched.trace = fact->trace;
	x->sched.instance = (uint16_t)(exec >> INSTANCE_SHIFT);
	x->sched.priority = 255;
	x->sched.step_ns = x->sched.estimate_ns = BSA_NEVER;
	x->answered = x->answer_blocked = x->fetch_ns = x->op_began = x->model_estimate = BSA_NEVER;
	x->app = s->app_key;
	x->ended = x->returned = x->signalled = x->served = x->model_priority = 255;
	x->lane = x->first_lane = BSA_LANE_NONE;
	x->last = f->now;
}

static void number_seen(struct bsa_fold *f, struct bsa_stream_known *s, uint32_t seq)
{
	if (seq < s->newest) {
		s->n_skipped -= s->n_skipped > 0;
		return;
	}
	/* Where events were lost, that may be those of an unknown stream, and of its executions under way before. */
	if (seq - s->newest > 1 && (s->newest || s->newest_at || f->losses.n)) {
		if (bsa_stream_is_serial(s) && f->losses.n)
			bsa_numbers_hidden(f, &s->fact, s->quiet_since > s->newest_at ? s->quiet_since : s->newest_at,
			                   f->now, true);
		if (!s->n_skipped)
			s->skipped_at = s->newest_at;
		s->n_skipped += bsa_stream_is_serial(s) ? 0 : seq - s->newest - 1;
	}
	s->newest = seq;
	s->newest_at = f->now;
}

static struct bsa_exec *exec_new(struct bsa_fold *f, uint64_t exec)
{
	struct bsa_execs *xs = &f->execs;
	struct bsa_stream_known *s;
	struct bsa_exec *x;

	if (!(uint32_t)exec || !(exec >> SEQ_BITS)) {
		bsa_fold_absurd(f);
		return NULL;
	}
	s = bsa_table_find(&f->world.streams, exec >> SEQ_BITS);
	if (s && bsa_stream_had(s, (uint32_t)exec)) {
		f->left_out.stragglers++;
		return NULL;
	}
	if (has_no_room(f))
		execs_make_room(f);
	s = bsa_stream_of_execution(f, (uint32_t)(exec >> SEQ_BITS));
	if (!s || f->failed)
		return NULL;
	if (!xs->spare) {
		struct bsa_slab *slab = malloc(sizeof(*slab)); /* exec_init zeroes each of them */

		if (!slab) {
			f->failed = -ENOMEM;
			return NULL;
		}
		slab->next = xs->slabs;
		xs->slabs = slab;
		for (size_t i = SLAB; i-- > 0;) {
			slab->execs[i].entry.next = (struct bsa_entry *)xs->spare;
			xs->spare = &slab->execs[i];
		}
	}
	x = xs->spare;
	xs->spare = (struct bsa_exec *)x->entry.next;
	xs->n++;
	exec_init(f, x, exec, s);
	bsa_table_add(&xs->table, &x->entry, exec);
	bsa_list_add(&xs->under_way, &x->under_way);
	bsa_list_add(&s->execs, &x->of_stream);
	x->stream = s;
	s->n_execs++;
	number_seen(f, s, (uint32_t)exec);
	if (bsa_stream_is_serial(s) && f->losses.n && !f->options.horizon_ns)
		bsa_execs_over(f, s, x);
	/* Conclude the executions of a serial stream that cannot be under way any more. */
	while (!f->options.horizon_ns) {
		struct bsa_exec *old = BSA_LINKED(bsa_list_first(&s->execs), struct bsa_exec, of_stream);

		if (old == x || !bsa_exec_is_passed(old))
			break;
		exec_conclude(f, old);
	}
	return x;
}

struct bsa_exec *bsa_exec_of(struct bsa_fold *f, uint64_t exec)
{
	struct bsa_exec *x = f->execs.last;

	if (!x || x->fact.exec != exec) {
		/*
		 * There is no event of @exec yet if its number is beyond those of its stream so far. To look
		 * for it in the table would touch other executions, which are out of the cache.
		 */
		const struct bsa_stream_known *s = bsa_table_find(&f->world.streams, exec >> SEQ_BITS);
		bool is_first = s && !s->renumbered && (uint32_t)exec > s->newest;

		x = is_first ? NULL : bsa_table_find(&f->execs.table, exec);
		if (!x)
			x = exec_new(f, exec);
		if (!x)
			return NULL;
		f->execs.last = x;
	}
	if (x->over) {
		f->left_out.stragglers++;
		return NULL;
	}
	return x;
}

struct bsa_exec *bsa_exec_heard(struct bsa_fold *f, uint64_t exec, uint8_t side)
{
	struct bsa_exec *x = bsa_exec_of(f, exec);
	struct bsa_stream_known *s = x ? x->stream : bsa_table_find(&f->world.streams, exec >> SEQ_BITS);

	if (!x) { /* its execution is not under way any more, but the side of its stream is recorded */
		if (s)
			s->heard |= side;
		if (s && (side & BSA_HEARD_CLIENT))
			note_client(f, s);
		return NULL;
	}
	if (!(x->heard & side)) {
		/*
		 * If each user has buffers of its own, client and service are in different traces: the
		 * service's one counts.
		 */
		if (side & BSA_HEARD_SERVICE)
			x->fact.trace = x->sched.trace = s->fact.trace = f->trace;
		if (side & BSA_HEARD_CLIENT)
			note_client(f, s);
		x->heard |= side;
		s->heard |= side;
		if (s->connection)
			s->connection->heard |= side;
	}
	if (f->options.horizon_ns) {
		x->last = f->now;
		bsa_list_remove(&x->under_way);
		bsa_list_add(&f->execs.under_way, &x->under_way);
	}
	return x;
}
