/* pending.c -- keeps possible losses until neighbouring events prove or refute them. */
#include "fold/pending.h"

#include "fold/inside.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum { KEPT_MAX = 16 << 20 };

void bsa_pending_fini(struct bsa_pending *p)
{
	free(p->losses);
	free(p->kept);
	*p = (struct bsa_pending){ 0 };
}

/* ---- heads and tails ---- */

enum verdict { HIDES, HIDES_NOTHING, UNDECIDED };

static void pass_on(struct bsa_fold *f, const struct bsa_event *e)
{
	uint32_t cause = e->kind == BSA_loss ? BSA_OF(e, loss)->cause : BSA_LOSS_EVENTS;
	struct bsa_pending *p = &f->pending;

	if ((cause == BSA_LOSS_HEAD || cause == BSA_LOSS_TAIL) && !BSA_OF(e, loss)->known) {
		if (BSA_RESERVE(p->losses, p->room, p->n + 1, 16))
			p->losses[p->n++] = (struct bsa_pending_loss){ *e, *BSA_OF(e, loss) };
		else
			f->failed = -ENOMEM;
		return;
	}
	if (p->n && e->kind != BSA_loss) {
		/* Decide the pending heads and tails by the event @e. */
		size_t kept = 0;

		for (size_t i = 0; i < p->n && !f->failed; i++) {
			const struct bsa_pending_loss l = p->losses[i];
			enum verdict verdict;

			if (l.loss.cause == BSA_LOSS_HEAD)
				verdict = e->at < l.loss.ended ? HIDES : HIDES_NOTHING;
			else
				verdict = e->trace == l.event.trace && e->at > l.event.at ? HIDES : UNDECIDED;
			if (verdict == UNDECIDED)
				p->losses[kept++] = l;
			else if (verdict == HIDES)
				bsa_fold_take(f, &l.event);
		}
		p->n = kept;
	}
	if (!f->failed)
		bsa_fold_take(f, e);
}

/* ---- gaps ---- */

/* A service emits this about itself, or of an execution that it has. */
static bool is_of_service(const struct bsa_event *e)
{
	switch ((enum bsa_kind)e->kind) {
	case BSA_service_state:
	case BSA_sched_enqueue:
	case BSA_sched_dispatch:
	case BSA_exec_end:
	case BSA_exec_service:
	case BSA_exec_state:
		return true;
	default:
		return false;
	}
}

bool bsa_event_is_repeated(const struct bsa_event *e)
{
	switch ((enum bsa_kind)e->kind) {
	case BSA_service_state:
		return BSA_OF(e, service_state)->since;
	case BSA_client_connect:
		return BSA_OF(e, client_connect)->since;
	case BSA_model_prepare:
		return BSA_OF(e, model_prepare)->since;
	case BSA_stream_open:
		return BSA_OF(e, stream_open)->since;
	case BSA_pool_map:
		return BSA_OF(e, pool_map)->since;
	case BSA_buffer_allocate:
		return BSA_OF(e, buffer_allocate)->since;
	case BSA_exec_state:
		return true;
	default:
		return false;
	}
}

/* When a service took a request, or heard of a client, by @e; BSA_NEVER: @e does not tell. */
static uint64_t looked_at(const struct bsa_event *e)
{
	switch ((enum bsa_kind)e->kind) {
	case BSA_fmq_read:
	case BSA_client_connect:
	case BSA_client_disconnect:
		return e->at;
	case BSA_exec_service:
		return BSA_OF(e, exec_service)->began;
	default:
		return BSA_NEVER;
	}
}

/*
 * The service @instance emitted @e: the number of the last gap after which it was heard @settled ns before it looked
 * for new listeners, and found none, or else it would have emitted its state again. 0: no gap.
 */
static uint64_t gap_without_stop(const struct bsa_pending *p, unsigned instance, const struct bsa_event *e,
                                 uint64_t settled)
{
	const struct bsa_heard *heard = &p->heard[instance];
	uint64_t at = looked_at(e);

	if (at == BSA_NEVER || at < settled || heard->new_since > p->n_gaps - p->n_gaps_kept)
		return 0;
	at -= settled;
	if (heard->last.gap && heard->last.at <= at)
		return heard->last.gap;
	return heard->first.gap && heard->first.at <= at ? heard->first.gap : 0;
}

/* Note when the service @instance was heard first after a gap. */
static void note_heard(struct bsa_fold *f, unsigned instance, uint64_t at)
{
	struct bsa_pending *p = &f->pending;
	struct bsa_heard *heard = &p->heard[instance];
	uint64_t decided = p->n_gaps - p->n_gaps_kept;

	if (!f->options.goes_on && !f->voices.heard[instance] && !heard->last.gap && f->voices.n_heard)
		heard->new_since = p->n_gaps;
	if (heard->first.gap <= decided)
		heard->first = heard->last;
	if (heard->last.gap != p->n_gaps)
		heard->last = (struct bsa_spoken){ p->n_gaps, at };
	if (heard->first.gap <= decided)
		heard->first = heard->last;
}

static bool is_gap(const struct bsa_event *e)
{
	return e->kind == BSA_loss && BSA_OF(e, loss)->cause == BSA_LOSS_GAP;
}

static void keep_back(struct bsa_fold *f, const struct bsa_event *e)
{
	struct bsa_pending *p = &f->pending;

	if (!BSA_RESERVE(p->kept, p->kept_room, p->kept_bytes + e->size, 4096)) {
		f->failed = -ENOMEM;
		return;
	}
	assert(p->kept_room - p->kept_bytes >= e->size);
	memcpy(p->kept + p->kept_bytes, e, e->size);
	p->kept_bytes += e->size;
	if (is_gap(e)) {
		p->n_gaps++;
		p->n_gaps_kept++;
	}
}

/* Take the gap at @kept + @i. It lasts until the next event of a service: until then no service is recorded. */
static void take_gap(struct bsa_fold *f, const char *kept, size_t i, size_t bytes)
{
	const struct bsa_event *e = (const struct bsa_event *)(kept + i);
	struct bsa_pending_loss gap = { *e, *BSA_OF(e, loss) };

	for (i += e->size; i < bytes; i += e->size) {
		e = (const struct bsa_event *)(kept + i);
		if (bsa_voice_of(e) == BSA_NO_INSTANCE)
			continue;
		if (e->at > gap.loss.ended)
			gap.loss.ended = e->at - 1;
		break;
	}
	bsa_fold_take(f, &gap.event);
}

/* Process the records held back up to the gap after number @last; of the gaps, those that are holes. */
static void release_until(struct bsa_fold *f, uint64_t last, enum verdict verdict)
{
	struct bsa_pending *p = &f->pending;
	size_t bytes = p->kept_bytes, i = 0;

	while (i < bytes && !f->failed) {
		const struct bsa_event *e = (const struct bsa_event *)(p->kept + i);
		size_t at = i;

		if (is_gap(e) && p->n_gaps - p->n_gaps_kept == last)
			break;
		i += e->size;
		if (!is_gap(e)) {
			pass_on(f, e);
			continue;
		}
		assert(p->n_gaps_kept);
		p->n_gaps_kept--;
		if (verdict == HIDES || (verdict == UNDECIDED && p->served && i < bytes && !BSA_OF(e, loss)->rotated))
			take_gap(f, p->kept, at, bytes);
	}
	assert(i <= bytes && p->n_gaps >= p->n_gaps_kept);
	p->kept_bytes = bytes - i;
	if (p->kept_bytes)
		memmove(p->kept, p->kept + i, p->kept_bytes);
}

static void release_gaps(struct bsa_fold *f, enum verdict verdict)
{
	release_until(f, f->pending.n_gaps, verdict);
}

bool bsa_pending_take(struct bsa_fold *f, const struct bsa_event *e)
{
	struct bsa_pending *p = &f->pending;
	unsigned instance;
	uint64_t gap;

	p->served |= is_of_service(e);
	if (__builtin_expect(!p->kept_bytes && e->kind != BSA_loss && !p->n, 1))
		return false;
	if (!p->kept_bytes && !is_gap(e)) {
		pass_on(f, e);
		return true;
	}
	if (!p->kept_bytes && !f->any) /* nothing is known that could have changed meanwhile */
		return true;
	keep_back(f, e);
	if (f->failed)
		return true;
	instance = bsa_voice_of(e);
	gap = 0;
	if (instance != BSA_NO_INSTANCE) {
		note_heard(f, instance, e->at);
		gap = gap_without_stop(p, instance, e, 0);
		if (gap > p->asked)
			p->asked = gap;
		if (!f->options.goes_on)
			gap = gap_without_stop(p, instance, e, BSA_PENDING_SETTLES);
	}
	if (bsa_event_is_repeated(e))
		release_gaps(f, HIDES);
	else if (gap > p->n_gaps - p->n_gaps_kept)
		release_until(f, gap, HIDES_NOTHING);
	else if (p->kept_bytes > KEPT_MAX)
		release_gaps(f, UNDECIDED);
	return true;
}

bool bsa_pending_any(const struct bsa_pending *p)
{
	return p->n || p->kept_bytes;
}

void bsa_pending_finish(struct bsa_fold *f)
{
	struct bsa_pending *p = &f->pending;

	if (p->asked > p->n_gaps - p->n_gaps_kept)
		release_until(f, p->asked, HIDES_NOTHING);
	release_gaps(f, UNDECIDED);
}
