/*
 * follow_unseen.c -- finds the times of a recording that grows which no packet covers, and the streams that cannot be
 * read; each becomes a loss, as unseen.h has them: UNSEEN and UNREAD of follow.h.
 */
#include "follow_own.h"

#include <assert.h>
#include <string.h>

#include "base/vector.h"
#include "ring_names.h"
#include "stop.h"

static const uint64_t lost_ns = 1000000000; /* how much of a stream that cannot be read one loss covers */

/* Pass the packets of a stream that began before @until. Call this with ascending @until. */
static void pass_covers(struct bsa_follow_stream *s, uint64_t until)
{
	for (; s->next_cover < s->n_covers && s->covers[s->next_cover].began < until; s->next_cover++) {
		s->before_gap = s->covers[s->next_cover];
		s->any_before_gap = true;
	}
}

/* Note a packet among those of its stream. False: no memory. */
static bool stream_cover(struct bsa_follow *f, struct bsa_follow_stream *s, const struct bsa_packet_head *head)
{
	pass_covers(s, f->passed_until);
	if (s->next_cover > s->n_covers / 2) {
		s->n_covers -= s->next_cover;
		memmove(s->covers, s->covers + s->next_cover, s->n_covers * sizeof(*s->covers));
		s->next_cover = 0;
	}
	if (!BSA_RESERVE(s->covers, s->covers_room, s->n_covers + 1, 16))
		return false;
	s->covers[s->n_covers++] = (struct bsa_follow_covering){ head->began, head->ended, head->number };
	return true;
}

/* The first packet of a cpu covers time even without events, because it begins when LTTng makes the buffer. */
static bool is_empty(const struct bsa_packet_head *head)
{
	return head->began == head->ended && head->content <= LTTNG_EMPTY;
}

int bsa_follow_cover(struct bsa_follow *f, struct bsa_follow_stream *s, const struct bsa_packet_head *head,
                     struct bsa_err *err)
{
	bool goes_on = s->any && !is_empty(&s->head) && head->began <= s->head.ended;
	struct bsa_follow_cover c = { head->began, head->ended, s->trace, head->number > 0 && !goes_on };
	size_t i;

	if (!f->traces[s->trace].by_lttng)
		return 0;
	if (!stream_cover(f, s, head))
		return bsa_follow_no_memory(err);
	if (is_empty(head))
		return 0;
	if (c.began < f->first_began)
		f->first_began = c.began;
	assert(f->first_cover <= f->n_covers);
	if (f->first_cover > f->n_covers / 2) {
		f->n_covers -= f->first_cover;
		memmove(f->covers, f->covers + f->first_cover, f->n_covers * sizeof(*f->covers));
		f->first_cover = 0;
	}
	if (!BSA_RESERVE(f->covers, f->covers_room, f->n_covers + 1, 64))
		return bsa_follow_no_memory(err);
	for (i = f->n_covers++; i > f->first_cover && f->covers[i - 1].began > c.began; i--)
		f->covers[i] = f->covers[i - 1];
	f->covers[i] = c;
	return 0;
}

static void emit_unseen(struct bsa_follow *f, size_t trace, uint64_t began, uint64_t ended, struct bsa_loss loss)
{
	struct bsa_event *e = (struct bsa_event *)f->record;

	*e = (struct bsa_event){
		.at = began, .trace = (uint32_t)trace + 1, .kind = BSA_loss, .size = sizeof(*e) + sizeof(loss)
	};
	loss.ended = ended;
	loss.events = loss.packets = BSA_NEVER;
	loss.pid = f->traces[trace].input.pid;
	memcpy(e + 1, &loss, sizeof(loss));
}

/* Whether the packets before the first one of a stream of @trace were lost: as unseen.c has it. */
static bool has_lost_heads(const struct bsa_follow *f, size_t trace)
{
	const struct bsa_follow_trace *t = &f->traces[trace];
	bool any = false;

	for (size_t i = 0; i < f->n_streams; i++)
		any |= f->streams[i].trace == trace && f->streams[i].any && !f->streams[i].first;
	for (size_t i = 0; i < f->n_traces; i++)
		if (i != trace && f->traces[i].input.info.path &&
		    !strcmp(f->traces[i].input.info.uuid, t->input.info.uuid))
			return false;
	for (size_t i = 0; i < t->n_files; i++)
		if (bsa_is_tracefile(t->files[i].name))
			return false;
	return any && !bsa_is_of_snapshot(t->path) && !bsa_is_ring_session(t->input.info.session);
}

/* A stream that cannot be read loses its events until another file of it can, or the recording ends. */
static bool next_unreadable(struct bsa_follow *f)
{
	const struct bsa_head *head = bsa_ordered_head(&f->ordered);
	uint64_t ended = 0, at, until;

	if (!f->n_unreadable)
		return false;
	for (size_t i = 0; i < f->n_streams; i++)
		if (f->streams[i].any && f->streams[i].head.ended > ended)
			ended = f->streams[i].head.ended;
	at = head ? head->at : f->ordered.until == BSA_NEVER ? ended : f->ordered.until;
	until = f->ordered.until == BSA_NEVER ? ended : at + lost_ns;
	for (struct bsa_follow_stream *s = f->streams; s < f->streams + f->n_streams; s++) {
		uint64_t began = s->lost_until;

		if (!began || began > at || began >= until)
			continue;
		s->lost_until = until;
		emit_unseen(f, s->trace, began, until, (struct bsa_loss){ .cause = BSA_LOSS_CUT, .cpu = s->head.cpu });
		return true;
	}
	return false;
}

bool bsa_follow_is_unreadable(const struct bsa_follow *f, const struct bsa_follow_stream *s)
{
	return s->broken || (s->stuck && f->now - s->stuck_since >= STALL_NS);
}

/*
 * True: a stop would have written a packet of the stream by now, as TIME in follow.h assumes. False where the stream
 * cannot be read, its process may have ended, or it may be of another session or go on in another directory.
 */
static bool is_flushed_by_stop(const struct bsa_follow *f, const struct bsa_follow_stream *s)
{
	const struct bsa_follow_trace *t = &f->traces[s->trace];
	const struct bsa_trace *info = &t->input.info;

	if (f->now == BSA_NEVER || bsa_follow_is_unreadable(f, s) || s->file == SIZE_MAX ||
	    t->files[s->file].given_up || info->uid == UINT32_MAX)
		return false;
	for (size_t i = 0; i < f->n_traces; i++) {
		const struct bsa_trace *other = &f->traces[i].input.info;

		if (i != s->trace &&
		    (!other->path || !strcmp(other->uuid, info->uuid) || strcmp(other->session, info->session) != 0))
			return false;
	}
	return true;
}

/* True: the session was not stopped before @until, where a gap ends. Call this with ascending @until. */
static bool is_no_stop(struct bsa_follow *f, uint64_t until)
{
	struct bsa_stop stop = { .event = f->event };

	for (struct bsa_follow_stream *s = f->streams; s < f->streams + f->n_streams; s++) {
		pass_covers(s, until);
		if (!s->any_before_gap)
			continue;
		if (s->next_cover < s->n_covers)
			bsa_stop_add(&stop, s->before_gap.number, s->before_gap.ended, s->covers[s->next_cover].number);
		else if (s->before_gap.ended < stop.event && !stop.unflushed && is_flushed_by_stop(f, s))
			stop.unflushed = true;
	}
	return bsa_stop_is_refuted(&stop);
}

static bool next_gap(struct bsa_follow *f)
{
	const struct bsa_head *head = bsa_ordered_head(&f->ordered);
	uint64_t at = head ? head->at : f->ordered.until == BSA_NEVER ? BSA_NEVER : 0;

	while (f->n_heads) {
		const struct bsa_follow_head h = f->heads[--f->n_heads];

		if (f->first_began >= h.ended)
			continue;
		emit_unseen(
			f, h.trace, f->first_began, h.ended,
			(struct bsa_loss){ .cause = BSA_LOSS_HEAD, .cpu = h.cpu, .known = has_lost_heads(f, h.trace) });
		return true;
	}
	while (f->first_cover < f->n_covers && f->covers[f->first_cover].began <= at) {
		const struct bsa_follow_cover c = f->covers[f->first_cover++], before = f->covered;
		bool is_gap;

		if (c.ended > before.ended)
			f->covered = c;
		if (c.began > f->passed_until)
			f->passed_until = c.began;
		is_gap = before.ended && c.began > before.ended && !is_no_stop(f, f->passed_until);
		if (before.ended && c.began > before.ended && !is_gap)
			f->refuted = (struct bsa_follow_cover){ .began = f->event, .ended = c.began };
		if (c.began_with_event && c.began > f->event)
			f->event = c.began;
		if (!is_gap)
			continue;
		f->gap = (struct bsa_follow_cover){ .began = before.ended, .ended = c.began, .trace = before.trace };
		emit_unseen(f, before.trace, before.ended, c.began,
		            (struct bsa_loss){ .cause = BSA_LOSS_GAP, .cpu = UINT32_MAX });
		return true;
	}
	return false;
}

bool bsa_follow_next_unseen(struct bsa_follow *f)
{
	return next_gap(f) || next_unreadable(f);
}
