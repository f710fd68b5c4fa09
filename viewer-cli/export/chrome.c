/*
 * chrome.c -- a trace as JSON: Trace Event Format, as speedscope and chrome://tracing read it.
 *
 * SLICES   are events of phase X, with their length. Those of a track nest.
 * PROCESSES, THREADS  Tracks have numbers of their own: what has the same number in a trace of the
 *                     system is not mixed up with them.
 * TIMES    are microseconds with three decimals since the recording began, so that a reader that
 *          keeps them as floating-point numbers has the nanosecond.
 * NUMBERS  beyond 2^53 are strings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/sink.h"
#include "render/render.h"

#define EXACT_MOST (INT64_C(1) << 53)

enum { NS_PER_US = 1000 };

struct chrome {
	struct bsv_sink sink;
	FILE *to;
	int64_t began;
	bool any;
};

static struct chrome *chrome_of(struct bsv_sink *s)
{
	return (struct chrome *)s;
}

static void put_us(struct chrome *c, const char *field, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	fprintf(c->to, ",\"%s\":%s%" PRIu64 ".%03" PRIu64, field, ns < 0 ? "-" : "", size / NS_PER_US,
	        size % NS_PER_US);
}

static void put_text(struct chrome *c, const char *text)
{
	bsv_json_text(c->to, text, strlen(text));
}

/* Everything but what closes it. */
static void open_event(struct chrome *c, const char *phase, uint64_t process, uint64_t track)
{
	fprintf(c->to, "%s{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64, c->any ? ",\n" : "", phase, process,
	        track);
	c->any = true;
}

/* Times of a database are between -2^62 and 2^62; a number beyond is no time. */
static int64_t us_between(int64_t from, int64_t to)
{
	int64_t ret;

	return __builtin_sub_overflow(to, from, &ret) ? 0 : ret;
}

static int64_t us_since_begin(const struct chrome *c, int64_t at)
{
	return us_between(c->began, at);
}

static void put_args(struct chrome *c, const struct bsv_args *args)
{
	if (!args || !args->n)
		return;
	fputs(",\"args\":{", c->to);
	for (size_t i = 0; i < args->n; i++) {
		const struct bsv_sink_arg *a = &args->args[i];
		bool exact = a->value >= -EXACT_MOST && a->value <= EXACT_MOST;

		if (i)
			fputc(',', c->to);
		put_text(c, a->name);
		fputc(':', c->to);
		if (a->is_text)
			put_text(c, a->text.text);
		else
			fprintf(c->to, exact ? "%" PRId64 : "\"%" PRId64 "\"", a->value);
	}
	fputc('}', c->to);
}

static void put_name(struct chrome *c, const struct bsv_sink_event *e)
{
	bool any = false;

	fputs(",\"name\":", c->to);
	put_text(c, e->name.text);
	fputs(",\"cat\":\"", c->to);
	for (unsigned i = 0; i < BSV_CATEGORIES; i++)
		if (e->categories >> i & 1) {
			fprintf(c->to, "%s%s", any ? "," : "", bsv_category_names[i]);
			any = true;
		}
	fputc('"', c->to);
}

static void put_end(struct chrome *c)
{
	fputc('}', c->to);
	c->sink.failed = ferror(c->to);
}

/* Events with the same flow number are joined, in the order of their times. */
static void put_flow(struct chrome *c, const struct bsv_sink_event *e)
{
	if (!e->flow)
		return;
	open_event(c, e->flow_ends ? "f" : e->flow_goes_on ? "t" : "s", e->process, e->track);
	put_us(c, "ts", us_since_begin(c, e->at));
	fprintf(c->to, ",\"name\":\"flow\",\"cat\":\"flow\",\"id\":\"%" PRIu64 "\"%s", e->flow,
	        e->flow_ends ? ",\"bp\":\"e\"" : "");
	put_end(c);
}

static void put_more(struct chrome *c, const struct bsv_sink_event *e);

static void slice_begin(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e)
{
	struct chrome *c = chrome_of(s);

	(void)q;
	open_event(c, "X", e->process, e->track);
	put_us(c, "ts", us_since_begin(c, e->at));
	put_us(c, "dur", us_between(e->at, e->until));
	put_name(c, e);
	put_args(c, e->args);
	put_end(c);
	put_flow(c, e);
	put_more(c, e);
}

static void slice_end(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e)
{
	struct bsv_sink_event at_end = *e;

	(void)q;
	at_end.at = e->until;
	put_more(chrome_of(s), &at_end);
}

static void put_instant(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e)
{
	struct chrome *c = chrome_of(s);

	(void)q;
	open_event(c, "i", e->process, e->track);
	put_us(c, "ts", us_since_begin(c, e->at));
	fputs(",\"s\":\"t\"", c->to);
	put_name(c, e);
	put_args(c, e->args);
	put_end(c);
	put_flow(c, e);
}

static void put_counter(struct chrome *c, const struct bsv_sink_event *e, uint64_t track, const char *name,
                        int64_t value)
{
	open_event(c, "C", e->process, track);
	put_us(c, "ts", us_since_begin(c, e->at));
	fputs(",\"name\":", c->to);
	put_text(c, name);
	fprintf(c->to, ",\"args\":{\"value\":%" PRId64 "}", value);
	put_end(c);
}

static void put_more(struct chrome *c, const struct bsv_sink_event *e)
{
	for (size_t i = 0; i < e->n_more; i++)
		put_counter(c, e, e->more_tracks[i], e->more_names[i], e->more_values[i]);
}

static void sink_counter(struct bsv_sink *s, struct bsv_sequence *q, const struct bsv_sink_event *e)
{
	(void)q;
	put_counter(chrome_of(s), e, e->track, e->name.text, e->value);
}

static void put_track(struct bsv_sink *s, const struct bsv_track *t)
{
	struct chrome *c = chrome_of(s);
	bool process = t->process == t->id;

	if (t->kind == BSV_TRACK_COUNT || t->kind == BSV_TRACK_NS)
		return; /* a counter brings its name along */
	open_event(c, "M", t->process, process ? 0 : t->id);
	fprintf(c->to, ",\"name\":\"%s\",\"args\":{\"name\":", process ? "process_name" : "thread_name");
	put_text(c, t->name);
	fputc('}', c->to);
	put_end(c);
}

static int chrome_finish(struct bsv_sink *s, struct bsa_err *err)
{
	struct chrome *c = chrome_of(s);

	fputs("\n]}\n", c->to);
	return ferror(c->to) ? bsa_fail(err, BSA_E_ENV, "%s", strerror(errno)) : 0;
}

static void chrome_free(struct bsv_sink *s)
{
	free(s);
}

struct bsv_sink *bsv_chrome_new(FILE *to, const struct bsv_clocks *clocks)
{
	struct chrome *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct chrome){ .sink = { put_track, slice_begin, slice_end, put_instant, sink_counter, chrome_finish,
		                        chrome_free, false },
		              .to = to,
		              .began = clocks->began };
	fprintf(to,
	        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"%s at ts 0, ns\":\"%" PRId64 "\"},\"traceEvents\":[\n",
	        clocks->one_host ? "CLOCK_MONOTONIC" : "CLOCK_REALTIME", clocks->began - clocks->offset);
	return &c->sink;
}
