/* decoders.c -- see decoders.h. Both are read at once, step by step. */
#include "analyzer/decoders.h"

#include <babeltrace2/babeltrace.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decode/decode.h"

struct side {
	struct bsa_decode *d;
	const struct bsa_event *event;
	struct bsa_err err;
	int code;
};

static void open_side(struct side *side, const char *path, unsigned threads, enum bsa_decoder decoder)
{
	const struct bsa_decode_options options = { .threads = threads, .decoder = decoder };

	*side = (struct side){ 0 };
	side->code = bsa_decode_open(&side->d, &path, 1, &options, &side->err);
}

static bool same_record(const struct bsa_event *a, const struct bsa_event *b)
{
	return a->size == b->size && !memcmp(a, b, a->size);
}

static void compare_counts(struct decoders *ret, const struct bsa_decoded *a, const struct bsa_decoded *b)
{
	ret->cut |= a->cut;
	ret->lost_events += a->lost_events;
	if (a->events != b->events || a->foreign != b->foreign || a->unusable != b->unusable ||
	    a->unknown_fields != b->unknown_fields || a->lost_events != b->lost_events ||
	    a->lost_packets != b->lost_packets || a->began != b->began || a->ended != b->ended || a->cut != b->cut)
		snprintf(ret->differs, sizeof(ret->differs),
		         "counts: babeltrace2 has %" PRIu64 " events, %" PRIu64 " foreign, %" PRIu64
		         " unusable, lost %" PRIu64 "/%" PRIu64 ", cut %d; the other %" PRIu64 ", %" PRIu64 ", %" PRIu64
		         ", %" PRIu64 "/%" PRIu64 ", %d",
		         a->events, a->foreign, a->unusable, a->lost_events, a->lost_packets, a->cut, b->events,
		         b->foreign, b->unusable, b->lost_events, b->lost_packets, b->cut);
}

static void compare_records(struct decoders *ret, struct side *a, struct side *b)
{
	do {
		a->code = bsa_decode_next(a->d, &a->event, &a->err);
		b->code = bsa_decode_next(b->d, &b->event, &b->err);
		if (a->code != b->code)
			snprintf(ret->differs, sizeof(ret->differs), "record %" PRIu64 ": %d %.90s, %d %.90s",
			         ret->records, a->code, a->err.text, b->code, b->err.text);
		else if (a->code > 0 && !same_record(a->event, b->event))
			snprintf(ret->differs, sizeof(ret->differs),
			         "record %" PRIu64 ": kind %u at %" PRIu64 ", kind %u at %" PRIu64, ret->records,
			         a->event->kind, a->event->at, b->event->kind, b->event->at);
		else
			ret->records += a->code > 0;
	} while (!*ret->differs && a->code > 0);
	ret->code = a->code;
	for (size_t i = 0; !*ret->differs && bsa_decode_trace(a->d, i); i++) {
		struct bsa_decoded counts[] = { bsa_decode_decoded(a->d, i), bsa_decode_decoded(b->d, i) };

		compare_counts(ret, &counts[0], &counts[1]);
	}
}

/* The causes of an error are to be taken from babeltrace2: else its next call ends the program. */
static bool left_an_error(void)
{
	const bt_error *error = bt_current_thread_take_error();

	if (error)
		bt_error_release(error);
	return error;
}

struct decoders decoders_compare(const char *path, unsigned threads)
{
	struct decoders ret = { 0 };
	struct side a, b, quick;

	open_side(&a, path, threads, BSA_DECODER_BABELTRACE2);
	open_side(&b, path, threads, BSA_DECODER_AUTO);
	open_side(&quick, path, threads, BSA_DECODER_QUICK);
	ret.quick = !quick.code;
	ret.code = a.code;
	if (a.code != b.code) /* their sentences have addresses in them */
		snprintf(ret.differs, sizeof(ret.differs), "opened: %d %.90s; %d %.90s", a.code, a.err.text, b.code,
		         b.err.text);
	else if (!a.code)
		compare_records(&ret, &a, &b);
	bsa_decode_free(a.d);
	bsa_decode_free(b.d);
	bsa_decode_free(quick.d);
	if (!*ret.differs && left_an_error())
		snprintf(ret.differs, sizeof(ret.differs), "an error is left behind");
	return ret;
}
