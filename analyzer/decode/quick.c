/*
 * quick.c -- decodes packets without babeltrace2. It reads a stream through a window, which moves
 * along its file. Events of a fixed size that the window holds whole are the rule, and are read in
 * place; all others piece by piece.
 *
 * Where a stream is broken within a packet it ends as babeltrace2 ends it: an event may go on behind the end
 * that its packet declares, even into the next packet, and is then the last one; an event cut by the end of
 * the file is dropped.
 */
#include "quick.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsa/regular.h"
#include "heads.h"
#include "merge.h"

enum { WINDOW = 128 << 10, HEADER_MAX = 16, NS = 1000000000 };

/* Events met, and not yet counted for all to see. */
struct tally {
	uint64_t events, foreign, unusable, bytes, began, ended;
};

struct flow {
	const struct bsa_recipe *recipe;
	const struct bsa_recipe_stream *stream;
	struct bsa_counts *counts;
	const char *path;
	uint32_t trace, pid;
	uint64_t rank;
	uint64_t trace_ended; /* in cycles: a stream that is broken is lost until then; 0: unknown, or it grows */

	int fd;
	uint8_t *window;
	const uint8_t *at, *end,
		/* in the window: the next byte, the end of what was read, and the end of this packet within it */
		*limit;
	uint64_t end_offset;  /* offset in the file of @end */
	uint64_t bytes, told; /* size of the file; bytes counted so far */

	struct bsa_packet_head head, before;
	uint64_t packet_end, content_end; /* offsets */
	uint64_t packet_ended;            /* no event of this packet can be later; UINT64_MAX: unknown */
	bool bounded;                     /* events are held against the end of their packet */
	bool spoilt;        /* an event of this packet was later than its end: the rest of the packet is lost */
	bool within, after; /* a packet; another one before it */
	uint64_t lost_most; /* largest count of lost events in the packets read so far */
	bool lost_events, lost_packets; /* losses to report before the packet's records */

	uint64_t clock, last; /* its clock; the last record's time */
	uint32_t cpu;
	uint64_t count; /* how long the next sequence is */

	/* The next record. */
	const struct bsa_recipe_event *event; /* NULL: it is ready */
	const uint8_t *payload;
	uint64_t ready[BSA_RECORD_MAX / 8];

	struct tally tally;
	int code; /* the error */
	int error;

	/* set if the stream still grows: then the end of the file is not the end of the stream */
	bool grows;
	bool broken; /* the stream ended within a packet, and cannot be continued */
};

struct bsa_quick {
	struct flow *flows;
	size_t n_flows;
	struct bsa_merge merge;
	bool begun;
};

/* ---- a window ---- */

static uint64_t offset_of(const struct flow *f)
{
	return f->end_offset - (uint64_t)(f->end - f->at);
}

static void set_limit(struct flow *f)
{
	uint64_t left = f->content_end - offset_of(f);

	if (f->content_end <= offset_of(f))
		f->limit = f->at;
	else
		f->limit = left < (uint64_t)(f->end - f->at) ? f->at + left : f->end;
}

/* Read at least one more byte into the window. False: the file has ended, or an error occurred. */
static bool window_refill(struct flow *f)
{
	size_t kept = (size_t)(f->end - f->at), room = WINDOW - kept;
	ssize_t n;

	if (f->end_offset >= f->bytes || f->code)
		return false;
	if (room > f->bytes - f->end_offset)
		room = (size_t)(f->bytes - f->end_offset);
	memmove(f->window, f->at, kept);
	do
		n = pread(f->fd, f->window + kept, room, (off_t)f->end_offset);
	while (n < 0 && errno == EINTR);
	f->at = f->window;
	f->end = f->window + kept + (n > 0 ? n : 0);
	if (n <= 0) {
		f->code = BSA_E_INPUT;
		f->error = n < 0 ? errno : 0;
		return false;
	}
	f->end_offset += (uint64_t)n;
	return true;
}

/* True: the window has @n bytes. @n is at most the size of the window. */
static bool window_has(struct flow *f, size_t n)
{
	while ((size_t)(f->end - f->at) < n)
		if (!window_refill(f))
			return false;
	return true;
}

static bool flow_skip(struct flow *f, uint64_t n)
{
	uint64_t here = (uint64_t)(f->end - f->at);

	if (n <= here) {
		f->at += n;
		return true;
	}
	if (n - here > f->bytes - f->end_offset)
		return false;
	f->end_offset += n - here;
	f->at = f->end = f->window;
	return true;
}

static bool flow_take(struct flow *f, void *ret, size_t n)
{
	if (!window_has(f, n))
		return false;
	memcpy(ret, f->at, n);
	f->at += n;
	return true;
}

/* ---- time ---- */

static uint64_t cycles_to_ns(const struct flow *f, uint64_t cycles)
{
	unsigned __int128 wide;

	if (__builtin_expect(f->recipe->frequency == NS, 1))
		return cycles;
	wide = (unsigned __int128)cycles * NS / f->recipe->frequency;
	return wide > UINT64_MAX ? UINT64_MAX : (uint64_t)wide;
}

/* The clock after it advanced until its lowest @bits bits are @low: by less than one turn of those bits. */
static uint64_t clock_advanced(uint64_t clock, uint64_t low, unsigned bits)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1;

	return (clock & ~mask) + (low < (clock & mask) ? mask + 1 : 0) + low;
}

/* ---- losses, and packets ---- */

/* 1: the loss becomes a record; 0: the time of the loss is unknown. */
static int emit_loss(struct flow *f, uint64_t began, uint64_t ended, struct bsa_loss loss)
{
	struct bsa_event *event = (struct bsa_event *)f->ready;
	uint64_t at = cycles_to_ns(f, began);

	if (at > INT64_MAX)
		return 0;
	if (at < f->last)
		at = f->last;
	f->last = at;
	if (f->cpu == UINT32_MAX && !f->lost_packets)
		f->cpu = f->head.cpu;
	ended = cycles_to_ns(f, ended);
	loss.ended = ended > at && ended <= INT64_MAX ? ended : at;
	loss.cpu = f->cpu;
	loss.pid = f->pid;
	*event = (struct bsa_event){
		.at = at, .trace = f->trace, .kind = BSA_loss, .size = sizeof(*event) + sizeof(loss)
	};
	memcpy(event + 1, &loss, sizeof(loss));
	f->event = NULL;
	return 1;
}

/*
 * As much further as a count can go on from the other one: LTTng-UST's of lost events now and then go back
 * for a packet.
 */
static bool goes_beyond(uint64_t count, uint64_t other)
{
	return count - other > 0 && count - other <= INT64_MAX;
}

static bool begin_packet(struct flow *f)
{
	uint64_t offset = offset_of(f);
	struct bsa_packet_head head;

	while ((size_t)(f->end - f->at) < BSA_HEAD_MAX && window_refill(f))
		;
	if (!f->code && (!bsa_packet_head_read(&head, f->recipe, f->at, (size_t)(f->end - f->at)) ||
	                 head.bytes > f->bytes - offset || head.stream != f->stream ||
	                 (f->after && !bsa_packet_head_follows(&f->before, &head))))
		f->code = BSA_E_INPUT;
	if (f->code)
		return false;
	f->head = head;
	f->within = true;
	f->packet_end = offset + head.bytes;
	f->content_end = offset + head.content;
	f->clock = head.began;
	f->spoilt = false;
	f->packet_ended = f->bounded && head.ended ? head.ended : UINT64_MAX;
	f->lost_events = head.discarded != BSA_NEVER &&
	                 (f->after ? goes_beyond(head.discarded, f->lost_most) : head.discarded != 0);
	f->lost_packets = f->after && goes_beyond(head.number, f->before.number + 1);
	f->at += f->stream->head;
	set_limit(f);
	return true;
}

static void count_bytes(struct flow *f, uint64_t bytes)
{
	f->told += bytes;
	f->tally.bytes += bytes;
}

/* End the stream: no more records. */
static int flow_end(struct flow *f, bool cut)
{
	count_bytes(f, f->bytes - f->told);
	f->broken = true;
	f->at = f->end = f->limit = f->window;
	f->end_offset = f->packet_end = f->content_end = f->bytes;
	f->within = false;
	if (cut)
		atomic_store_explicit(&f->counts->cut, true, memory_order_relaxed);
	return f->code;
}

/* The stream cannot be read any further: the rest of it, to the trace's end, is one last record, a loss. */
static int flow_break(struct flow *f)
{
	uint64_t since = cycles_to_ns(f, f->head.began), until = cycles_to_ns(f, f->trace_ended);
	int r = flow_end(f, true);

	if (r || until > INT64_MAX || (since > f->last ? since : f->last) >= until)
		return r;
	return emit_loss(f, f->head.began, f->trace_ended,
	                 (struct bsa_loss){ .events = BSA_NEVER, .packets = BSA_NEVER, .cause = BSA_LOSS_CUT });
}

/* ---- an event, piece by piece ---- */

static bool take_number(struct flow *f, const struct bsa_part *part, uint64_t *ret)
{
	uint64_t value = 0;
	unsigned unused = 64 - part->from * 8u;

	if (!flow_take(f, &value, part->from))
		return false;
	*ret = part->from_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
	return true;
}

static bool take_numbers(struct flow *f, const struct bsa_part *part, char *record)
{
	uint64_t n = part->counted ? f->count : part->n, i = 0, value;

	for (; part->wanted && i < n && i < part->room; i++) {
		if (!take_number(f, part, &value))
			return false;
		bsa_put_fitting(record + part->at + i * part->bytes, part->bytes, part->to_signed, value,
		                part->from_signed);
		if (part->counts)
			f->count = value;
	}
	if (part->counts && !part->wanted) {
		i++;
		if (!take_number(f, part, &f->count))
			return false;
	}
	return n - i <= f->bytes / part->from && flow_skip(f, (n - i) * part->from);
}

static bool take_letters(struct flow *f, const struct bsa_part *part, char *record)
{
	uint64_t n = part->counted ? f->count : part->n, i = 0;
	char letter = 1;

	for (; part->wanted && letter && i < n && i < part->bytes - 1u; i++) {
		if (!flow_take(f, &letter, 1))
			return false;
		record[part->at + i] = letter;
	}
	return flow_skip(f, n - i);
}

static bool take_string(struct flow *f, const struct bsa_part *part, char *record)
{
	size_t room = part->wanted ? part->bytes - 1u : 0, n;
	const uint8_t *zero = NULL;

	record += part->at;
	while (!zero) {
		if (!window_has(f, 1))
			return false;
		zero = memchr(f->at, 0, (size_t)(f->end - f->at));
		n = (size_t)((zero ? zero : f->end) - f->at);
		if (room)
			memcpy(record, f->at, n < room ? n : room);
		record += n < room ? n : room;
		room -= n < room ? n : room;
		f->at += n + (zero ? 1 : 0);
	}
	return true;
}

/* ---- what stands before an event ---- */

/* Its length, or 0: there are fewer than @n bytes of it, and more are needed. */
static size_t read_header(const struct flow *f, const uint8_t *at, size_t n, uint64_t *ret_id, uint64_t *ret_clock)
{
	uint64_t wide[2];
	uint32_t id = 0, low = 0;
	size_t head = f->stream->header == BSA_HEADER_LARGE ? 2 : 1;

	if (f->stream->header == BSA_HEADER_PLAIN) {
		if (n < sizeof(wide))
			return 0;
		memcpy(wide, at, sizeof(wide));
		*ret_id = (uint32_t)wide[0]; /* no more of it is looked at by babeltrace2 */
		*ret_clock = wide[1];
		return sizeof(wide);
	}
	if (n < head)
		return 0;
	memcpy(&id, at, head);
	if (head == 1)
		id &= 31;
	if (id == (head == 1 ? 31 : UINT16_MAX)) {
		if (n < head + 12)
			return 0;
		memcpy(&id, at + head, sizeof(id));
		memcpy(ret_clock, at + head + 4, sizeof(*ret_clock));
		*ret_id = id;
		return head + 12;
	}
	if (n < (head == 1 ? 4 : 6))
		return 0;
	*ret_id = id;
	memcpy(&low, at + (head == 1 ? 0 : 2), sizeof(low));
	*ret_clock = head == 1 ? clock_advanced(f->clock, low >> 5, 27) : clock_advanced(f->clock, low, 32);
	return head == 1 ? 4 : 6;
}

/*
 * Count it, and whether a record comes of it. A time that goes backwards, or is of another age, is not to be
 * believed.
 */
static bool counts_for_something(struct flow *f, const struct bsa_recipe_event *event)
{
	uint64_t at;

	f->tally.events++;
	if (__builtin_expect(event->kind == BSA_N_KINDS, 0)) {
		f->tally.foreign++;
		return false;
	}
	at = cycles_to_ns(f, f->clock);
	if (__builtin_expect(!event->usable || at > INT64_MAX, 0)) {
		f->tally.unusable++;
		return false;
	}
	if (__builtin_expect(at < f->last, 0)) {
		f->tally.unusable++;
		at = f->last;
	}
	if (__builtin_expect(f->tally.began > at, 0))
		f->tally.began = at;
	f->tally.ended = f->last = at;
	return true;
}

static bool is_spoilt(const struct flow *f, uint64_t clock)
{
	return f->spoilt || clock > f->packet_ended;
}

/* The first event that contradicts its packet becomes a loss, up to the packet's end. */
static int spoil_packet(struct flow *f)
{
	bool before = f->spoilt;
	int r = 0;

	f->tally.events++;
	f->tally.unusable++;
	f->spoilt = true;
	if (!before)
		r = emit_loss(f, f->head.began, f->packet_ended,
		              (struct bsa_loss){ .events = BSA_NEVER, .packets = BSA_NEVER, .cause = BSA_LOSS_CUT });
	return r ? r : 2;
}

/* ---- the next record ---- */

static int next_event_slowly(struct flow *f)
{
	const struct bsa_recipe_event *event;
	struct bsa_event *record = (struct bsa_event *)f->ready;
	char *bytes = (char *)f->ready;
	uint64_t id, clock;
	size_t n;

	while ((size_t)(f->end - f->at) < HEADER_MAX && window_refill(f))
		;
	n = f->code ? 0 : read_header(f, f->at, (size_t)(f->end - f->at), &id, &clock);
	if (!n)
		return flow_break(f);
	if (id >= f->stream->n_events || !f->stream->events[id].known)
		return f->grows ? BSA_FLOW_UNKNOWN : flow_break(f);
	event = &f->stream->events[id];
	f->clock = clock;
	f->at += n;

	if (event->blank)
		memcpy(bytes, event->blank, ((const struct bsa_event *)event->blank)->size);
	f->count = 0;
	for (size_t i = 0; i < event->n_parts; i++) {
		const struct bsa_part *part = &event->parts[i];
		bool taken = part->kind == BSA_PART_STRING    ? take_string(f, part, bytes)
		             : part->kind == BSA_PART_LETTERS ? take_letters(f, part, bytes)
		                                              : take_numbers(f, part, bytes);

		if (!taken)
			return flow_break(f);
	}
	set_limit(f);
	if (__builtin_expect(is_spoilt(f, clock), 0))
		return spoil_packet(f);
	if (!counts_for_something(f, event))
		return 2;
	record->at = f->last;
	record->trace = f->trace;
	f->event = NULL;
	return 1;
}

/* 1: a record; 2: none yet; 0: there are no more; negative: it went wrong. BSA_FLOW_UNKNOWN, if it grows. */
static int next_slowly(struct flow *f)
{
	uint64_t offset = offset_of(f), n;
	int r;

	if (!f->within) {
		if (offset == f->bytes)
			return f->grows || f->broken ? 0 : flow_end(f, false);
		return begin_packet(f) ? 2 : f->code;
	}
	if (f->lost_events) {
		/* Before the first packet it is not known how many, nor since when. */
		n = f->after ? f->head.discarded - f->lost_most : 1;
		f->lost_events = false;
		f->lost_most = f->head.discarded;
		bsa_count(&f->counts->lost_events, n);
		r = emit_loss(f, f->after ? f->before.ended : f->head.began, f->head.ended,
		              (struct bsa_loss){ .events = f->after ? n : BSA_NEVER, .cause = BSA_LOSS_EVENTS });
		return r ? r : 2;
	}
	if (f->lost_packets) {
		n = f->head.number - f->before.number - 1;
		f->lost_packets = false;
		bsa_count(&f->counts->lost_packets, n);
		r = emit_loss(f, f->before.ended, f->head.began,
		              (struct bsa_loss){ .events = BSA_NEVER, .packets = n, .cause = BSA_LOSS_PACKETS });
		return r ? r : 2;
	}
	if (f->stream->cpu.bytes)
		f->cpu = f->head.cpu;
	if (offset == f->content_end) {
		count_bytes(f, f->head.bytes);
		f->before = f->head;
		f->after = true;
		f->within = false;
		return flow_skip(f, f->packet_end - offset) ? 2 : flow_break(f);
	}
	if (offset > f->content_end)
		return flow_break(f);
	return next_event_slowly(f);
}

/* An event that is all there, and whose size is known: as soon as one of them is a record, true. */
static inline bool next_quickly(struct flow *f)
{
	while (__builtin_expect(f->limit - f->at >= HEADER_MAX, 1)) {
		const struct bsa_recipe_event *event;
		uint64_t id, clock;
		size_t n = read_header(f, f->at, HEADER_MAX, &id, &clock);

		if (__builtin_expect(id >= f->stream->n_events, 0))
			return false;
		event = &f->stream->events[id];
		if (__builtin_expect(!event->known || !event->fixed || (size_t)(f->limit - f->at) < n + event->bytes,
		                     0))
			return false;
		if (__builtin_expect(is_spoilt(f, clock), 0))
			return false;
		f->clock = clock;
		f->payload = f->at + n;
		f->at = f->payload + event->bytes;
		if (counts_for_something(f, event)) {
			f->event = event;
			return true;
		}
	}
	return false;
}

/* To the next record: 1; 0: no more records; negative: an error, or BSA_FLOW_UNKNOWN for a stream that still grows. */
static int flow_advance(struct flow *f)
{
	int r = 2;

	while (r == 2) {
		if (__builtin_expect(f->within && !f->lost_events && !f->lost_packets && next_quickly(f), 1))
			return 1;
		r = next_slowly(f);
	}
	return r;
}

static inline void write_event(const struct flow *f, struct bsa_event *ret)
{
	const struct bsa_recipe_event *event = f->event;
	const struct bsa_part *part = event->copies, *end = part + event->n_copies;
	unsigned unused;

	memcpy(ret, event->blank, ((const struct bsa_event *)event->blank)->size);
	for (; part < end; part++) {
		const uint8_t *from = f->payload + part->where;
		char *to = (char *)ret + part->at;

		switch ((enum bsa_copy)part->copy) {
		case BSA_COPY_8:
			memcpy(to, from, 8);
			break;
		case BSA_COPY_4:
			memcpy(to, from, 4);
			break;
		case BSA_COPY_2:
			memcpy(to, from, 2);
			break;
		case BSA_COPY_1:
			memcpy(to, from, 1);
			break;
		case BSA_COPY_MANY:
			memcpy(to, from, part->n * part->bytes);
			break;
		case BSA_COPY_FITTING:
			unused = 64 - part->from * 8u;
			for (uint64_t i = 0; i < part->n; i++) {
				uint64_t value = 0;

				memcpy(&value, from + i * part->from, part->from);
				value = part->from_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
				bsa_put_fitting(to + i * part->bytes, part->bytes, part->to_signed, value,
				                part->from_signed);
			}
			break;
		}
	}
	ret->at = f->last;
	ret->trace = f->trace;
}

/* ---- all of them ---- */

static void count_tally(struct flow *f)
{
	struct tally *tally = &f->tally;

	bsa_count(&f->counts->events, tally->events);
	bsa_count(&f->counts->foreign, tally->foreign);
	bsa_count(&f->counts->unusable, tally->unusable);
	bsa_count(&f->counts->bytes, tally->bytes);
	if (tally->began != BSA_NEVER) {
		bsa_count_time(f->counts, tally->began);
		bsa_count_time(f->counts, tally->ended);
	}
	*tally = (struct tally){ .began = BSA_NEVER };
}

/* ---- one that still grows ---- */

struct bsa_flow {
	struct flow flow;
};

struct bsa_flow *bsa_flow_new(uint32_t trace, uint64_t rank, uint32_t pid, struct bsa_counts *counts)
{
	struct bsa_flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return NULL;
	flow->flow = (struct flow){ .counts = counts,
		                    .path = "",
		                    .trace = trace,
		                    .rank = rank,
		                    .pid = pid,
		                    .cpu = UINT32_MAX,
		                    .fd = -1,
		                    .grows = true,
		                    .bounded = true,
		                    .tally.began = BSA_NEVER };
	flow->flow.window = malloc(WINDOW);
	if (!flow->flow.window)
		return bsa_flow_free(flow);
	flow->flow.at = flow->flow.end = flow->flow.limit = flow->flow.window;
	return flow;
}

struct bsa_flow *bsa_flow_free(struct bsa_flow *flow)
{
	if (flow)
		free(flow->flow.window);
	free(flow);
	return NULL;
}

void bsa_flow_recipe(struct bsa_flow *flow, const struct bsa_recipe *recipe, const struct bsa_recipe_stream *stream)
{
	flow->flow.recipe = recipe;
	flow->flow.stream = flow->flow.head.stream = flow->flow.before.stream = stream;
}

void bsa_flow_file(struct bsa_flow *flow, int fd)
{
	struct flow *f = &flow->flow;

	f->fd = fd;
	f->at = f->end = f->limit = f->window;
	f->end_offset = f->bytes = f->told = f->packet_end = f->content_end = 0;
	f->within = f->broken = false;
}

void bsa_flow_grow(struct bsa_flow *flow, uint64_t bytes)
{
	flow->flow.bytes = bytes;
}

int bsa_flow_next(struct bsa_flow *flow, uint64_t *ret_at)
{
	struct flow *f = &flow->flow;
	int r = f->broken ? 0 : flow_advance(f);

	if (r != 1)
		count_tally(f);
	if (r < 0) {
		f->code = f->error = 0;
		flow_end(f, true);
		return 0;
	}
	if (r == 1)
		*ret_at = f->last;
	return r;
}

void bsa_flow_write(const struct bsa_flow *flow, struct bsa_event *ret)
{
	if (flow->flow.event)
		write_event(&flow->flow, ret);
	else
		memcpy(ret, flow->flow.ready, ((const struct bsa_event *)flow->flow.ready)->size);
}

bool bsa_flow_broken(const struct bsa_flow *flow)
{
	return flow->flow.broken;
}

void bsa_flow_break(struct bsa_flow *flow)
{
	flow_end(&flow->flow, true);
}

uint64_t bsa_flow_last(const struct bsa_flow *flow)
{
	const struct flow *f = &flow->flow;
	uint64_t began = f->recipe ? cycles_to_ns(f, f->head.began) : 0;

	return began > f->last ? began : f->last;
}

/* ---- reading them all ---- */

static int flow_error(const struct flow *f, struct bsa_err *err)
{
	if (f->error)
		return bsa_fail(err, f->code, "%s cannot be read: %s", f->path, strerror(f->error));
	return bsa_fail(err, f->code, "%s has changed while it was read", f->path);
}

int bsa_quick_fill(struct bsa_quick *q, struct bsa_batch *batch, struct bsa_err *err)
{
	struct bsa_queued *queued;
	bool begun = q->begun;
	int r = 0;

	q->begun = true;
	for (size_t i = 0; !begun && i < q->n_flows; i++) {
		struct flow *f = &q->flows[i];

		r = flow_advance(f);
		if (r < 0)
			return flow_error(f, err);
		if (r)
			bsa_merge_add(&q->merge, (struct bsa_head){ .at = f->last, .rank = f->rank, .who = i });
	}

	/* Append the earliest record of all streams to the batch. */
	while (r >= 0 && q->merge.n && (queued = bsa_batch_room(batch))) {
		struct flow *f = &q->flows[q->merge.heap[0].who];

		queued->rank = f->rank;
		if (__builtin_expect(f->event != NULL, 1))
			write_event(f, &queued->event);
		else
			memcpy(&queued->event, f->ready, ((const struct bsa_event *)f->ready)->size);
		bsa_batch_add(batch, queued);
		r = flow_advance(f);
		if (__builtin_expect(r > 0, 1))
			bsa_merge_move(&q->merge, f->last, f->rank);
		else if (r == 0)
			bsa_merge_drop(&q->merge);
	}
	for (size_t i = 0; i < q->n_flows; i++)
		count_tally(&q->flows[i]);
	if (r < 0)
		return flow_error(&q->flows[q->merge.heap[0].who], err);
	return q->merge.n > 0;
}

static bool is_mine(const struct bsa_input *input, size_t stream, unsigned reader)
{
	return input->recipe && input->streams[stream].reader == reader;
}

static int open_flow(struct flow *f, struct bsa_err *err)
{
	struct stat st;

	f->fd = bsa_open_regular(f->path);
	if (f->fd < 0)
		return bsa_fail(err, BSA_E_INPUT, "%s cannot be read: %s", f->path, strerror(-f->fd));
	if (fstat(f->fd, &st))
		return bsa_fail(err, BSA_E_INPUT, "%s cannot be read: %s", f->path, strerror(errno));
	f->bytes = (uint64_t)st.st_size;
	f->window = malloc(WINDOW);
	if (!f->window)
		return bsa_fail(err, BSA_E_ENV, "there is no memory left to read traces");
	f->at = f->end = f->limit = f->window;
	return 0;
}

int bsa_quick_new(struct bsa_quick **ret, const struct bsa_inputs *inputs, size_t first, size_t end, unsigned reader,
                  struct bsa_counts *counts, struct bsa_err *err)
{
	struct bsa_quick *q = calloc(1, sizeof(*q));
	size_t n = 0;
	int r = 0;

	for (size_t i = first; i < end; i++)
		for (size_t k = 0; k < inputs->list[i].n_streams; k++)
			n += is_mine(&inputs->list[i], k, reader);
	if (q) {
		q->flows = calloc(n + 1, sizeof(*q->flows));
		q->merge.heap = calloc(n + 1, sizeof(*q->merge.heap));
	}
	if (!q || !q->flows || !q->merge.heap)
		r = bsa_fail(err, BSA_E_ENV, "there is no memory left to read traces");
	for (size_t i = first; i < end; i++) {
		const struct bsa_input *input = &inputs->list[i];

		for (size_t k = 0; r == 0 && k < input->n_streams; k++) {
			struct flow *f = &q->flows[q->n_flows];

			if (!is_mine(input, k, reader))
				continue;
			*f = (struct flow){ .recipe = input->recipe,
				            .stream = input->streams[k].recipe,
				            .path = input->streams[k].path,
				            .rank = input->streams[k].rank,
				            .trace_ended = input->ended,
				            .bounded = input->streams[k].n_spans,
				            .counts = &counts[i],
				            .trace = (uint32_t)i + 1,
				            .pid = input->pid,
				            .cpu = UINT32_MAX,
				            .tally.began = BSA_NEVER };
			q->n_flows++;
			r = open_flow(f, err);
		}
	}
	if (r) {
		bsa_quick_free(q);
		return r;
	}
	*ret = q;
	return 0;
}

struct bsa_quick *bsa_quick_free(struct bsa_quick *q)
{
	if (!q)
		return NULL;
	for (size_t i = 0; i < q->n_flows; i++) {
		if (q->flows[i].fd >= 0)
			close(q->flows[i].fd);
		free(q->flows[i].window);
	}
	free(q->flows);
	free(q->merge.heap);
	free(q);
	return NULL;
}
