/*
 * perfetto.c -- a trace in Perfetto's format: a sequence of TracePacket messages, written as they come.
 *
 * NUMBERS    of fields are those of Perfetto's .proto files; tests/viewer/trackevent.proto has the
 *            ones used here, and protoc decodes with it.
 * SEQUENCES  Each bsv_sequence is a packet sequence with a clock of its own, whose timestamps are
 *            differences: an execution has some twenty packets that are microseconds apart. A time
 *            before the last one refers to the builtin clock.
 * INTERNING  A text is written once in each sequence, and is a number from then on. A name with a
 *            key is repeated where it is not the last one of its sequence, for a sequence remembers
 *            one only; repeating an entry as it was is allowed.
 * CLOCKS     The first packet has what other clocks showed when the recording began, so that
 *            Perfetto can put the trace beside others. If BOOTTIME is unknown, the trace is in
 *            MONOTONIC; if it is from several hosts, in REALTIME, and no other clock is given.
 * MEMORY     One buffer, that is written out when it is full; nothing grows with the trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/map.h"
#include "export/proto.h"
#include "export/sink.h"

enum { CHUNK = 256 << 10, WORDS = 256 };

enum clock_id { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6, OWN = 64 };

/* TracePacket */
enum {
	TRACE_PACKET = 1, /* fields of Trace */
	CLOCK_SNAPSHOT = 6,
	TIMESTAMP = 8,
	SEQUENCE_ID = 10,
	TRACK_EVENT = 11,
	INTERNED_DATA = 12,
	SEQUENCE_FLAGS = 13,
	COMPRESSED_PACKETS = 50,
	TIMESTAMP_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	TRACK_DESCRIPTOR = 60,
	FIRST_PACKET = 87,
};

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 }; /* SEQUENCE_FLAGS */

/* ClockSnapshot, and its Clock */
enum { CLOCKS = 1, PRIMARY_CLOCK = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_INCREMENTAL = 3 };

/* TrackDescriptor, and inside it ProcessDescriptor and CounterDescriptor */
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, COUNTER_UNIT = 3, UNIT_TIME_NS = 1, UNIT_COUNT = 2 };

/* TrackEvent; TrackEventDefaults have the same numbers */
enum {
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_MORE_VALUES = 12,
	EVENT_CATEGORY_TEXT = 22,
	EVENT_NAME = 23,
	EVENT_VALUE = 30,
	EVENT_MORE_TRACKS = 31,
	EVENT_FLOW = 47,
	EVENT_FLOW_ENDS = 48,
};

enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

/* DebugAnnotation */
enum { ARG_NAME_IID = 1, ARG_INT = 4, ARG_STRING = 6, ARG_NAME = 10, ARG_STRING_IID = 17 };

/* InternedData, and each of its entries */
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ARG = 3, INTERNED_STRING = 29, IID = 1, IID_TEXT = 2 };

const char *const bsv_category_names[BSV_CATEGORIES] = { "execution", "phase", "wait", "lane", "holder",
	                                                 "deadline",  "miss",  "loss", "hole" };

struct word {
	char text[48];
	unsigned of; /* the index in InternedData */
};

struct perfetto {
	struct bsv_sink sink;
	FILE *to;
	struct bsv_clocks clocks;
	uint64_t uuids;            /* the base from which the ids of tracks are counted */
	int64_t first;             /* the time of the first snapshot, no later than any event */
	uint32_t sequences;        /* number of sequences so far */
	struct bsv_sequence about; /* descriptors of tracks */
	struct bsv_proto out, packet, event, interned;
	struct word words[WORDS];
	struct bsv_map numbers; /* of a word from 1, by its hash */
	unsigned n_words;
	bool compress;
	z_stream z;
	uint8_t *squeezed;
	size_t squeezed_room;
};

static struct perfetto *perfetto_of(struct bsv_sink *s)
{
	return (struct perfetto *)s;
}

/* ---- to the file ---- */

static void put_bytes(struct perfetto *p, const void *bytes, size_t n)
{
	if (!p->sink.failed && fwrite(bytes, 1, n, p->to) != n)
		p->sink.failed = true;
}

/* A packet that has the packets of the buffer inside. */
static void put_squeezed(struct perfetto *p)
{
	struct bsv_proto *packet = &p->packet;
	size_t outer, n;

	deflateReset(&p->z);
	p->z.next_in = p->out.bytes;
	p->z.avail_in = (uInt)p->out.n;
	p->z.next_out = p->squeezed;
	p->z.avail_out = (uInt)p->squeezed_room;
	if (p->out.n > CHUNK * 2 ||
	    deflate(&p->z, Z_FINISH) != Z_STREAM_END) { /* one packet that is too large for it */
		put_bytes(p, p->out.bytes, p->out.n);
		return;
	}
	n = p->squeezed_room - p->z.avail_out;
	packet->n = 0;
	outer = bsv_proto_open(packet, TRACE_PACKET);
	bsv_proto_bytes(packet, COMPRESSED_PACKETS, p->squeezed, n);
	bsv_proto_close(packet, outer);
	put_bytes(p, packet->bytes, packet->n);
	p->sink.failed = p->sink.failed || packet->failed;
}

static void put_chunk(struct perfetto *p)
{
	if (p->out.failed || p->event.failed || p->interned.failed)
		p->sink.failed = true;
	if (p->out.n && p->compress)
		put_squeezed(p);
	else if (p->out.n)
		put_bytes(p, p->out.bytes, p->out.n);
	p->out.n = 0;
}

static void packet_done(struct perfetto *p, size_t opened)
{
	bsv_proto_close(&p->out, opened);
	if (p->out.n >= CHUNK)
		put_chunk(p);
}

/* ---- clocks and sequences ---- */

static enum clock_id builtin_clock(const struct perfetto *p)
{
	return p->clocks.one_host ? MONOTONIC : REALTIME;
}

static int64_t on_clock(const struct perfetto *p, int64_t at)
{
	int64_t ret;

	if (p->clocks.one_host && __builtin_sub_overflow(at, p->clocks.offset, &ret))
		ret = 0;
	else if (!p->clocks.one_host)
		ret = at;
	return ret < 0 ? 0 : ret;
}

static void put_clock(struct perfetto *p, unsigned id, int64_t at, bool incremental)
{
	size_t clock = bsv_proto_open(&p->out, CLOCKS);

	bsv_proto_varint(&p->out, CLOCK_ID, id);
	bsv_proto_varint(&p->out, CLOCK_TIMESTAMP, (uint64_t)at);
	if (incremental)
		bsv_proto_varint(&p->out, CLOCK_INCREMENTAL, 1);
	bsv_proto_close(&p->out, clock);
}

/*
 * The values of all clocks at @at. Each snapshot has a slightly later time, because some readers
 * want the clocks of snapshots to advance.
 */
static void put_snapshot(struct perfetto *p, int64_t at, bool own, bool all)
{
	size_t snapshot = bsv_proto_open(&p->out, CLOCK_SNAPSHOT);
	bool others = all && p->clocks.one_host;
	int64_t boottime, realtime;

	if (own)
		put_clock(p, OWN, at, true);
	put_clock(p, builtin_clock(p), at, false);
	if (others && p->clocks.boottime_known && !__builtin_add_overflow(at, p->clocks.boottime, &boottime) &&
	    boottime >= 0)
		put_clock(p, BOOTTIME, boottime, false);
	if (others && !__builtin_add_overflow(at, p->clocks.offset, &realtime) && realtime >= 0)
		put_clock(p, REALTIME, realtime, false);
	if (all && !(p->clocks.one_host && p->clocks.boottime_known))
		bsv_proto_varint(&p->out, PRIMARY_CLOCK, builtin_clock(p));
	bsv_proto_close(&p->out, snapshot);
}

static void sequence_begin(struct perfetto *p, struct bsv_sequence *q)
{
	size_t packet = bsv_proto_open(&p->out, TRACE_PACKET), defaults, event;

	q->id = ++p->sequences;
	q->last = p->first + q->id;
	bsv_proto_varint(&p->out, SEQUENCE_ID, q->id);
	bsv_proto_varint(&p->out, SEQUENCE_FLAGS, STATE_CLEARED);
	bsv_proto_varint(&p->out, FIRST_PACKET, 1);
	defaults = bsv_proto_open(&p->out, PACKET_DEFAULTS);
	bsv_proto_varint(&p->out, TIMESTAMP_CLOCK_ID, q->any_order ? builtin_clock(p) : OWN);
	if (q->track) {
		event = bsv_proto_open(&p->out, TRACK_EVENT);
		bsv_proto_varint(&p->out, EVENT_TRACK, p->uuids + q->track);
		bsv_proto_close(&p->out, event);
	}
	bsv_proto_close(&p->out, defaults);
	if (!q->any_order || q->id == 1)
		put_snapshot(p, q->last, !q->any_order, q->id == 1);
	packet_done(p, packet);
}

/* ---- texts ---- */

static void intern_text(struct perfetto *p, unsigned of, uint64_t iid, const char *text)
{
	size_t entry = bsv_proto_open(&p->interned, of);

	bsv_proto_varint(&p->interned, IID, iid);
	bsv_proto_string(&p->interned, IID_TEXT, text);
	bsv_proto_close(&p->interned, entry);
}

/*
 * The word's number, or WORDS: the text is too long, there are too many words, or there is no
 * memory. Such a text is written as it is.
 */
static unsigned intern_word(struct perfetto *p, unsigned of, const char *text)
{
	size_t n = strlen(text);
	uint64_t key, *number, known;
	struct word *w;

	if (n >= sizeof(w->text))
		return WORDS;
	for (key = bsv_map_text(of, text, n); (known = bsv_map_get(&p->numbers, key)); key++) {
		w = &p->words[known - 1];
		if (w->of == of && !memcmp(w->text, text, n + 1))
			return (unsigned)known - 1;
	}
	number = p->n_words < WORDS ? bsv_map_at(&p->numbers, key) : NULL;
	if (!number)
		return WORDS;
	w = &p->words[p->n_words];
	memcpy(w->text, text, n + 1);
	w->of = of;
	*number = ++p->n_words;
	return p->n_words - 1;
}

/* The iid of @text in index @of of InternedData, or 0: write it as it is. */
static uint64_t iid_of(struct perfetto *p, struct bsv_sequence *q, unsigned of, const struct bsv_sink_text *text)
{
	unsigned at;

	if (text->key) {
		uint8_t *keys = q->keys[of == INTERNED_STRING];
		uint32_t *latest = &q->key[of == INTERNED_STRING];
		bool known;

		/* Was this key written on the sequence? It is from now on. */
		at = text->key - BSV_KEYS;
		known = keys ? keys[at / 8] >> at % 8 & 1 : *latest == text->key;
		if (keys)
			keys[at / 8] |= (uint8_t)(1 << at % 8);
		*latest = text->key;
		if (!known)
			intern_text(p, of, text->key, text->text);
		return text->key;
	}
	at = intern_word(p, of, text->text);
	if (at == WORDS)
		return 0;
	if (!(q->seen[at / 64] >> at % 64 & 1)) {
		intern_text(p, of, at + 1, text->text);
		q->seen[at / 64] |= UINT64_C(1) << at % 64;
	}
	return at + 1;
}

/* ---- events ---- */

static void put_arg(struct perfetto *p, struct bsv_sequence *q, const struct bsv_sink_arg *a)
{
	size_t arg = bsv_proto_open(&p->event, EVENT_ANNOTATION);
	uint64_t iid = iid_of(p, q, INTERNED_ARG, &(struct bsv_sink_text){ a->name, 0 });

	if (iid)
		bsv_proto_varint(&p->event, ARG_NAME_IID, iid);
	else
		bsv_proto_string(&p->event, ARG_NAME, a->name);
	iid = a->is_text ? iid_of(p, q, INTERNED_STRING, &a->text) : 0;
	if (!a->is_text)
		bsv_proto_varint(&p->event, ARG_INT, (uint64_t)a->value);
	else if (iid)
		bsv_proto_varint(&p->event, ARG_STRING_IID, iid);
	else
		bsv_proto_string(&p->event, ARG_STRING, a->text.text);
	bsv_proto_close(&p->event, arg);
}

static void fill_event(struct perfetto *p, struct bsv_sequence *q, const struct bsv_sink_event *e, enum event_type type)
{
	struct bsv_proto *to = &p->event;

	bsv_proto_varint(to, EVENT_TYPE, type);
	if (e->track != q->track)
		bsv_proto_varint(to, EVENT_TRACK, p->uuids + e->track);
	if (type == COUNTER)
		bsv_proto_varint(to, EVENT_VALUE, (uint64_t)e->value);
	else if (type != SLICE_END) {
		uint64_t iid;

		for (unsigned c = 0; c < BSV_CATEGORIES; c++) {
			if (!(e->categories >> c & 1))
				continue;
			iid = iid_of(p, q, INTERNED_CATEGORY, &(struct bsv_sink_text){ bsv_category_names[c], 0 });
			if (iid)
				bsv_proto_varint(&p->event, EVENT_CATEGORY, iid);
			else
				bsv_proto_string(&p->event, EVENT_CATEGORY_TEXT, bsv_category_names[c]);
		}
		iid = iid_of(p, q, INTERNED_NAME, &e->name);
		if (iid)
			bsv_proto_varint(&p->event, EVENT_NAME_IID, iid);
		else
			bsv_proto_string(&p->event, EVENT_NAME, e->name.text);
	}
	for (size_t i = 0; i < e->n_more; i++) {
		bsv_proto_varint(to, EVENT_MORE_TRACKS, p->uuids + e->more_tracks[i]);
		bsv_proto_varint(to, EVENT_MORE_VALUES, (uint64_t)e->more_values[i]);
	}
	if (type == SLICE_END)
		return;
	if (e->flow)
		bsv_proto_fixed64(to, e->flow_ends ? EVENT_FLOW_ENDS : EVENT_FLOW, e->flow);
	for (size_t i = 0; e->args && i < e->args->n; i++)
		put_arg(p, q, &e->args->args[i]);
}

static void put_event(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e, enum event_type type,
                      int64_t at)
{
	struct perfetto *p = perfetto_of(s);
	int64_t on;
	size_t packet;

	if (!q->id)
		sequence_begin(p, q);
	p->event.n = p->interned.n = 0;
	fill_event(p, q, e, type);
	packet = bsv_proto_open(&p->out, TRACE_PACKET);
	on = on_clock(p, at);
	if (!q->any_order && on >= q->last) {
		bsv_proto_varint(&p->out, TIMESTAMP, (uint64_t)(on - q->last));
		q->last = on;
	} else {
		bsv_proto_varint(&p->out, TIMESTAMP, (uint64_t)on);
		if (!q->any_order)
			bsv_proto_varint(&p->out, TIMESTAMP_CLOCK_ID, builtin_clock(p));
	}
	bsv_proto_varint(&p->out, SEQUENCE_ID, q->id);
	bsv_proto_varint(&p->out, SEQUENCE_FLAGS, NEEDS_STATE);
	if (p->interned.n)
		bsv_proto_bytes(&p->out, INTERNED_DATA, p->interned.bytes, p->interned.n);
	bsv_proto_bytes(&p->out, TRACK_EVENT, p->event.bytes, p->event.n);
	packet_done(p, packet);
}

static void slice_begin(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e)
{
	put_event(s, q, e, SLICE_BEGIN, e->at);
}

static void slice_end(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e)
{
	put_event(s, q, e, SLICE_END, e->until);
}

static void put_instant(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e)
{
	put_event(s, q, e, INSTANT, e->at);
}

static void put_counter(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e)
{
	put_event(s, q, e, COUNTER, e->at);
}

/* ---- tracks ---- */

static void put_track(struct bsv_sink *s, const struct bsv_track *t)
{
	struct perfetto *p = perfetto_of(s);
	size_t packet, descriptor, counter;

	if (!p->about.id)
		sequence_begin(p, &p->about);
	packet = bsv_proto_open(&p->out, TRACE_PACKET);
	bsv_proto_varint(&p->out, SEQUENCE_ID, p->about.id);
	bsv_proto_varint(&p->out, SEQUENCE_FLAGS, NEEDS_STATE);
	descriptor = bsv_proto_open(&p->out, TRACK_DESCRIPTOR);
	bsv_proto_varint(&p->out, TRACK_UUID, p->uuids + t->id);
	if (t->parent)
		bsv_proto_varint(&p->out, TRACK_PARENT, p->uuids + t->parent);
	if (t->pid) {
		size_t process = bsv_proto_open(&p->out, TRACK_PROCESS);

		bsv_proto_varint(&p->out, PROCESS_PID, (uint64_t)t->pid);
		bsv_proto_string(&p->out, PROCESS_NAME, t->name);
		bsv_proto_close(&p->out, process);
	} else
		bsv_proto_string(&p->out, TRACK_NAME, t->name);
	if (t->kind == BSV_TRACK_COUNT || t->kind == BSV_TRACK_NS) {
		counter = bsv_proto_open(&p->out, TRACK_COUNTER);
		bsv_proto_varint(&p->out, COUNTER_UNIT, t->kind == BSV_TRACK_NS ? UNIT_TIME_NS : UNIT_COUNT);
		bsv_proto_close(&p->out, counter);
	}
	bsv_proto_close(&p->out, descriptor);
	packet_done(p, packet);
}

/* ---- all of it ---- */

static int perfetto_finish(struct bsv_sink *s, struct bsa_err *err)
{
	struct perfetto *p = perfetto_of(s);

	if (!p->about.id) /* no packet at all was written: clocks are all there is */
		sequence_begin(p, &p->about);
	put_chunk(p);
	if (p->out.failed || p->event.failed || p->interned.failed || p->packet.failed)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	return s->failed ? bsa_fail(err, BSA_E_ENV, "%s", strerror(errno)) : 0;
}

static void perfetto_free(struct bsv_sink *s)
{
	struct perfetto *p = perfetto_of(s);

	if (p->compress)
		deflateEnd(&p->z);
	bsv_proto_fini(&p->out);
	bsv_proto_fini(&p->packet);
	bsv_proto_fini(&p->event);
	bsv_proto_fini(&p->interned);
	bsv_map_fini(&p->numbers);
	free(p->squeezed);
	free(p);
}

struct bsv_sink *bsv_perfetto_new(FILE *to, const struct bsv_clocks *clocks, bool compress)
{
	enum { BEFORE = 1 << 20 }; /* ns: sequences begin so much earlier, each at a time of its own */
	struct perfetto *p = calloc(1, sizeof(*p));
	uint32_t hash = 2166136261u;
	int64_t began;

	if (!p)
		return NULL;
	for (const char *at = clocks->uuid; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	*p = (struct perfetto){
		.sink = { put_track, slice_begin, slice_end, put_instant, put_counter, perfetto_finish, perfetto_free,
		          false },
		.to = to,
		.clocks = *clocks,
		/* numbers that tracks of another recording hardly have, and that take five bytes */
		.uuids = ((uint64_t)(hash >> 18) + 1) << 20,
		.about = { .any_order = true },
	};
	began = on_clock(p, clocks->began);
	p->first = began > BEFORE ? began - BEFORE : 0;
	if (!compress)
		return &p->sink;
	p->squeezed_room = compressBound(2 * CHUNK);
	p->squeezed = malloc(p->squeezed_room);
	p->compress = p->squeezed && deflateInit(&p->z, 1) == Z_OK;
	if (p->compress)
		return &p->sink;
	perfetto_free(&p->sink);
	return NULL;
}
