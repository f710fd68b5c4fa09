/* fold.c -- passes each event to the part of the fold that it concerns. */
#include "fold/inside.h"
#include "fold/valid.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"

void *bsa_fold_alloc(struct bsa_fold *f, size_t n)
{
	void *p = calloc(1, n);

	if (!p)
		f->failed = -ENOMEM;
	return p;
}

bool bsa_fold_is_crowded(const struct bsa_fold *f)
{
	const struct bsa_world *w = &f->world;

	return w->streams.n * sizeof(struct bsa_stream_known) + w->models.n * sizeof(struct bsa_model_known) +
	               w->connections.n * sizeof(struct bsa_connection) +
	               w->processes.n * sizeof(struct bsa_process_known) + w->apps.n * sizeof(struct bsa_app_known) +
	               w->mappings.n * sizeof(struct bsa_mapping_open) +
	               w->buffers.n * sizeof(struct bsa_buffer_known) + f->execs.n * sizeof(struct bsa_exec) +
	               bsa_schedule_tenant_bytes(f->schedule) >
	       BSA_CROWDED;
}

struct bsa_fold *bsa_fold_new(const struct bsa_facts *facts, const struct bsa_fold_options *options)
{
	struct bsa_fold *f = calloc(1, sizeof(*f));
	struct bsa_fold_options its;

	if (!f)
		return NULL;
	f->facts = *facts;
	f->options = *options;
	f->last = options->last;
	if (!f->options.under_way_max)
		f->options.under_way_max = BSA_UNDER_WAY_MAX;
	/* Events of one ns may come in any order: even without summaries no step is taken before that ns is over. */
	its = *options;
	if (!its.horizon_ns)
		its.horizon_ns = 1;
	f->schedule = bsa_schedule_new(facts, &its);
	if (!f->schedule || bsa_world_init(&f->world) || bsa_execs_init(&f->execs))
		return bsa_fold_free(f);
	return f;
}

struct bsa_fold *bsa_fold_free(struct bsa_fold *f)
{
	if (!f)
		return NULL;
	bsa_execs_fini(f);
	bsa_world_fini(&f->world);
	bsa_losses_fini(&f->losses);
	bsa_pending_fini(&f->pending);
	bsa_numbers_fini(&f->numbers);
	bsa_schedule_free(f->schedule);
	free(f->recorded);
	free(f);
	return NULL;
}

void bsa_fold_unknown(struct bsa_fold *f, uint64_t began, uint64_t ended)
{
	if (bsa_schedule_add_loss(f->schedule, began, ended, f->full_lanes && !f->summed_lanes))
		f->failed = -ENOMEM;
}

/* The loss began at @at, which is before now if only a later event proved it: pending.h, voices.h. */
static void on_loss(struct bsa_fold *f, uint64_t at, const struct bsa_loss *e)
{
	uint64_t ended = e->ended < at ? at : e->ended;
	struct bsa_lost fact = { .began = at,
		                 .ended = ended,
		                 .events = e->events,
		                 .packets = e->packets,
		                 .trace = f->trace,
		                 .cpu = e->cpu,
		                 .pid = e->pid,
		                 .cause = (uint8_t)e->cause };

	f->holes += e->cause > BSA_LOSS_PACKETS;
	f->facts.lost(f->facts.ctx, &fact);
	if (bsa_losses_add(&f->losses, at, ended))
		f->failed = -ENOMEM;
	if (!bsa_numbers_lose(f, at, ended))
		bsa_fold_unknown(f, at, ended);
}

void bsa_fold_lose(struct bsa_fold *f, uint64_t began, uint64_t ended, enum bsa_loss_cause cause)
{
	on_loss(f, began,
	        &(struct bsa_loss){
			.ended = ended, .events = BSA_NEVER, .packets = BSA_NEVER, .cpu = UINT32_MAX, .cause = cause });
}

/* A tail is proved by an event behind its beginning. */
static bool is_late(const struct bsa_event *e)
{
	return e->kind == BSA_loss &&
	       (BSA_OF(e, loss)->cause == BSA_LOSS_HEAD || BSA_OF(e, loss)->cause == BSA_LOSS_TAIL);
}

static void take_event(struct bsa_fold *f, const struct bsa_event *e)
{
#define TAKE(kind)                                 \
	case BSA_##kind:                           \
		bsa_on_##kind(f, BSA_OF(e, kind)); \
		return;

	switch ((enum bsa_kind)e->kind) {
		TAKE(exec_submit)
		TAKE(fmq_write)
		TAKE(fmq_read)
		TAKE(request_decode)
		TAKE(slot_lookup)
		TAKE(sched_enqueue)
		TAKE(sched_dispatch)
		TAKE(exec_end)
		TAKE(exec_return)
		TAKE(exec_client)
		TAKE(exec_service)
		TAKE(service_state)
		TAKE(client_connect)
		TAKE(client_disconnect)
		TAKE(model_prepare)
		TAKE(model_release)
		TAKE(stream_open)
		TAKE(stream_close)
		TAKE(fence_wait)
		TAKE(slot_fetch)
		TAKE(pool_map)
		TAKE(pool_unmap)
		TAKE(sched_preempt)
		TAKE(sched_ready)
		TAKE(sched_resume)
		TAKE(op_end)
		TAKE(deadline_miss)
		TAKE(resource_exhausted)
		TAKE(fence_signal)
		TAKE(exec_state)
		TAKE(app_span)
		TAKE(exec_delay)
		TAKE(buffer_allocate)
		TAKE(buffer_copy)
		TAKE(buffer_reject)
		TAKE(buffer_free)
	case BSA_loss:
		if (BSA_OF(e, loss)->cause == BSA_LOSS_GAP) { /* pending.c has made it as long as no service is heard */
			f->voices.gap_began = f->now;
			f->voices.gap_ended = BSA_OF(e, loss)->ended;
			on_loss(f, bsa_voices_until(f, f->now), BSA_OF(e, loss));
			return;
		}
		on_loss(f, is_late(e) ? e->at : f->now, BSA_OF(e, loss));
		return;
	case BSA_performance_hold: /* concerns the device, and no object here */
	case BSA_checkpoint:       /* op_end has the same */
	case BSA_loop_iteration:   /* there is no relation of them */
	case BSA_N_KINDS:
		return;
	}
#undef TAKE
}

/* Everything before @at has been seen. */
static void advance_to(struct bsa_fold *f, uint64_t at)
{
	uint64_t behind = f->options.horizon_ns + 1, known;

	if (!f->any) {
		f->any = true;
		f->began = at;
		bsa_schedule_set_begin(f->schedule, at);
		if (f->options.horizon_ns && at) /* summaries of executions before the recording went to no session */
			bsa_fold_unknown(f, 0, at - 1);
	}
	f->now = at;
	known = bsa_numbers_advance(f, at > behind ? at - behind : 0);
	if (known > f->known) {
		f->known = known;
		if (bsa_schedule_advance(f->schedule, f->known))
			f->failed = -ENOMEM;
	}
	if (!f->failed)
		bsa_execs_advance(f);
	if (!f->failed)
		bsa_world_advance(f);
}

void bsa_fold_take(struct bsa_fold *f, const struct bsa_event *e)
{
	struct bsa_mended room;
	bool unknown;
	const struct bsa_event *valid = bsa_valid(e, &room, &unknown);
	unsigned voice;

	f->left_out.unusable += unknown;
	f->trace = e->trace;
	if (e->at > f->now || !f->any)
		advance_to(f, e->at);
	f->at = f->step_at = f->now;
	if (e->at < f->now && !is_late(e)) {
		/*
		 * An event of an earlier time than the one before it, as of a file that a reader of a growing
		 * recording got late. The facts in the event about its execution were at its own time. But
		 * the schedule has gone on without it: if it is of a service, lanes were not as they seemed.
		 */
		bsa_fold_absurd(f);
		f->at = e->at;
		f->step_at = e->at > f->known ? e->at : f->now;
		if (f->step_at != e->at && e->kind != BSA_exec_service && bsa_valid_is_of_service(e))
			bsa_fold_unknown(f, e->at, f->now);
	}
	if (f->failed)
		return;
	if (!valid) {
		/*
		 * Its numbers cannot be, so nothing is made of it. An event of the service is as if it had
		 * been lost, at this time; an event of a client is of that client's execution alone, and so
		 * is what is missing then.
		 */
		f->left_out.unusable++;
		if (!bsa_valid_is_of_service(e))
			return;
		f->facts.lost(f->facts.ctx, &(struct bsa_lost){ .began = f->now,
		                                                .ended = f->now,
		                                                .events = 1,
		                                                .trace = f->trace,
		                                                .cpu = UINT32_MAX,
		                                                .cause = BSA_LOSS_UNUSABLE });
		if (bsa_losses_add(&f->losses, f->now, f->now))
			f->failed = -ENOMEM;
		bsa_fold_unknown(f, f->now, f->now);
		return;
	}
	voice = bsa_voice_of(valid);
	bsa_voices_note_kind(f, voice, valid);
	if (voice != BSA_NO_INSTANCE)
		bsa_voices_hear(f, voice, valid);
	if (!f->failed)
		take_event(f, valid);
}

int bsa_fold_event(struct bsa_fold *f, const struct bsa_event *e)
{
	f->n_of[e->kind]++;
	if (!bsa_pending_take(f, e))
		bsa_fold_take(f, e);
	return f->failed;
}

enum { QUIET_LONG = 3 }; /* horizons: what seems to be under way must not hold the others back for ever */

int bsa_fold_quiet(struct bsa_fold *f, uint64_t until)
{
	uint64_t horizon = f->options.horizon_ns;

	if (horizon && f->any && until > f->now && until - f->now > horizon && f->known < f->now &&
	    !f->numbers.n_holes && !bsa_pending_any(&f->pending))
		bsa_execs_quiet(f, until - f->now > QUIET_LONG * horizon);
	return f->failed;
}

bool bsa_fold_passed_doubts(const struct bsa_fold *f)
{
	return f->execs.doubts_passed;
}

int bsa_fold_recorded(struct bsa_fold *f, uint32_t trace, uint64_t until, uint64_t over_by)
{
	if (over_by > f->over_by)
		f->over_by = over_by;
	if (!until)
		return 0;
	if (!BSA_RESERVE(f->recorded, f->recorded_room, f->n_recorded + 1, 4))
		return f->failed = -ENOMEM;
	f->recorded[f->n_recorded++] = (struct bsa_recorded_until){ until, trace };
	return 0;
}

uint64_t bsa_fold_recorded_until(const struct bsa_fold *f, uint32_t trace)
{
	uint64_t until = 0;

	for (size_t i = 0; i < f->n_recorded; i++)
		if (f->recorded[i].trace == trace && f->recorded[i].until > until)
			until = f->recorded[i].until;
	return until;
}

/* Nothing happened between the last event and the end of the recording. */
static void go_to_the_end(struct bsa_fold *f)
{
	uint64_t until = 0;

	for (size_t i = 0; i < f->n_recorded; i++)
		if (f->recorded[i].until > until)
			until = f->recorded[i].until;
	if (f->any && until > f->now)
		advance_to(f, until);
	if (f->over_by < f->now + BSA_FOLD_STOPPING_NS)
		f->over_by = 0;
}

void bsa_fold_went_on(const struct bsa_fold *f, unsigned instance, uint64_t until)
{
	bsa_schedule_report_unrecorded(f->schedule, (uint16_t)instance, f->voices.heard[instance & (BSA_INSTANCES - 1)],
	                               until);
}

int bsa_fold_finish(struct bsa_fold *f)
{
	bsa_pending_finish(f);
	if (!f->failed)
		go_to_the_end(f);
	if (f->failed)
		return f->failed;
	f->finished = true;
	bsa_voices_finish(f);
	bsa_execs_finish(f);
	if (!f->failed)
		bsa_world_finish(f);
	if (!f->failed)
		bsa_pools_finish(f);
	return f->failed;
}

/* So many events show that those of another kind were not recorded, though some need none. Fewer: f->missing. */
enum { SHOWN_BY = 32 };

#define STOPS (UINT64_C(1) << BSA_sched_preempt | UINT64_C(1) << BSA_sched_resume)

/*
 * The kinds without which answers are wrong. A session may not have enabled them, or a filter left them out: no loss
 * shows that. @by: kinds of events that come with them, 1 << kind; @instead: the summary that has the same, or the kind
 * itself. A native service dispatches nothing, so its sched_enqueue shows nothing. @stops: a summary has how often an
 * execution was stopped, and not when: it is enough only if none was.
 */
static const struct {
	uint8_t kind, instead;
	bool stops;
	uint64_t by;
} shown[] = {
#define BY(kind) (UINT64_C(1) << BSA_##kind)
	{ BSA_model_prepare, BSA_model_prepare, false,
	  BY(sched_enqueue) | BY(sched_dispatch) | BY(sched_preempt) | BY(exec_service) },
	{ BSA_sched_enqueue, BSA_exec_service, false,
	  BY(sched_dispatch) | BY(sched_preempt) | BY(fence_wait) | BY(slot_fetch) },
	{ BSA_sched_dispatch, BSA_exec_service, false, BY(sched_preempt) | BY(sched_resume) },
	{ BSA_sched_preempt, BSA_exec_service, true, BY(sched_resume) },
	{ BSA_sched_resume, BSA_exec_service, true, BY(sched_preempt) },
	{ BSA_exec_end, BSA_exec_service, false, BY(sched_dispatch) | BY(sched_preempt) },
	{ BSA_exec_submit, BSA_exec_client, false, BY(exec_return) },
	{ BSA_exec_return, BSA_exec_client, false, BY(exec_submit) },
#undef BY
};

/* May the service stop executions, as far as it is known? */
static bool may_stop(const struct bsa_fold *f)
{
	return f->may_stop || !f->n_of[BSA_service_state];
}

bool bsa_fold_lacks_stops(const struct bsa_fold *f, const struct bsa_exec *x)
{
	uint64_t lacking = f->missing | (may_stop(f) ? f->options.undeclared : 0);

	return lacking >> BSA_sched_preempt & 1 && !bsa_fold_has_kind(f, x, BSA_sched_preempt);
}

void bsa_fold_lane_given(struct bsa_fold *f, const struct bsa_exec *x)
{
	if (f->options.undeclared & STOPS && f->options.undeclared >> BSA_exec_service & 1 && may_stop(f) &&
	    bsa_schedule_lacks_stops(f->schedule, x->sched.instance, f->step_at))
		f->failed = -ENOMEM;
}

/* Is nothing known of kind @i of those above, although there was some? */
static bool is_absent(const struct bsa_fold *f, size_t i)
{
	uint64_t by = shown[i].by, least = SHOWN_BY, n = 0;
	bool summed = f->n_of[shown[i].instead];

	if (f->n_of[shown[i].kind])
		return false;
	if (shown[i].stops && f->summed_stops)
		return true;
	if (summed)
		return false;
	if (f->options.undeclared >> shown[i].kind & 1) {
		least = 1;
		/* of a service that stops nothing, no stop is missing */
		if (shown[i].stops && may_stop(f))
			by |= UINT64_C(1) << BSA_sched_dispatch;
	}
	for (unsigned kind = 0; kind < BSA_N_KINDS; kind++)
		n += by >> kind & 1 ? f->n_of[kind] : 0;
	return n >= least;
}

struct bsa_left_out bsa_fold_left_out(const struct bsa_fold *f)
{
	struct bsa_left_out mine = f->left_out, theirs = bsa_schedule_left_out(f->schedule);
	/* what a summary has instead, which may be late */
	uint64_t summed = f->n_of[BSA_exec_service]
	                          ? UINT64_C(1) << BSA_sched_enqueue | UINT64_C(1) << BSA_sched_dispatch |
	                                    UINT64_C(1) << BSA_exec_end
	                          : 0;

	mine.absurd += theirs.absurd;
	mine.late += theirs.late;
	mine.forgotten += theirs.forgotten;
	mine.pairs += theirs.pairs;
	mine.parts += theirs.parts;
	mine.untold += theirs.untold;
	mine.unseen = bsa_numbers_unseen(f);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		if (is_absent(f, i))
			mine.absent |= UINT64_C(1) << shown[i].kind;
	/* an execution got the lane of another one, which was not seen to leave it: stops are missing, or ends are */
	if (bsa_schedule_is_crowded(f->schedule))
		mine.absent |= f->n_of[BSA_exec_end] ? STOPS : UINT64_C(1) << BSA_exec_end;
	for (unsigned kind = 0; kind < BSA_N_KINDS; kind++)
		if (!f->n_of[kind] && !(summed >> kind & 1))
			mine.absent |= f->missing & UINT64_C(1) << kind;
	/* of the clients nothing is there, and of the service not what every execution has */
	if (mine.absent >> BSA_sched_enqueue & 1 && !f->n_of[BSA_exec_submit] && !f->n_of[BSA_exec_client])
		mine.absent |= UINT64_C(1) << BSA_exec_submit;
	return mine;
}

struct bsa_fold_ids bsa_fold_last(const struct bsa_fold *f)
{
	return f->last;
}

uint64_t bsa_fold_holes(const struct bsa_fold *f)
{
	return f->holes;
}

uint64_t bsa_fold_late_summaries(const struct bsa_fold *f)
{
	return f->left_out.late;
}

uint64_t bsa_fold_latest_summary(const struct bsa_fold *f)
{
	return f->latest_summary;
}
