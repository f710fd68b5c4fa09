/*
 * decode.c -- runs readers, and merges what they read.
 *
 * CONCURRENCY  A reader is a graph (graph.h) or a quick one (quick.h), and the queue of what it has read. If
 *              there is more than one cpu, each is run by a thread of its own, which touches nothing but
 *              that, its queue and its counts, and reads d->stop; else bsa_decode_next runs them, and their
 *              queues are one batch each. All are made and freed by the thread that calls. Groups of traces
 *              come one after the other, and so do their readers.
 * ORDERING     The queue's lock hands over batches. Counts are single words of one writer, read relaxed: they are exact
 *              once the readers are joined, which is before the last bsa_decode_next answers 0.
 * PROGRESS     bsa_decode_next waits only for a reader whose next record is needed; a reader, only for room in its own
 *              queue. So neither waits for the other in a circle.
 * STOP         bsa_decode_stop sets d->stop, and no more than that. A reader looks at it after each batch, and
 *              ends, which wakes bsa_decode_next if that waits; bsa_decode_next looks at it with each batch. Records
 *              that were read and not asked for are dropped.
 */
#include "decode.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ctf.h"
#include "graph.h"
#include "ordered.h"
#include "quick.h"

enum { READERS_MAX = 4 };

struct reader {
	struct bsa_decode *d;
	struct bsa_graph *graph; /* set unless quick is */
	struct bsa_quick *quick;
	struct bsa_counts *counts; /* one for each input */
	struct bsa_ring ring;
	struct bsa_batch *own; /* without a thread */
	pthread_t thread;
	bool running, over;

	/* the caller's side */
	const struct bsa_batch *batch;
	size_t at;
};

struct bsa_decode {
	const bt_component_class_source *source; /* a reference */
	struct bsa_inputs inputs;
	struct reader readers[READERS_MAX];
	unsigned n_readers, threads;
	unsigned n_quick;           /* number of quick readers, which are the first ones */
	size_t first, end;          /* the inputs of this group */
	size_t next_unseen;         /* the index of the next unseen record, over all groups */
	struct bsa_ordered ordered; /* a sequence for each reader, and one, READERS_MAX, for what was not seen */
	struct bsa_head heads[READERS_MAX + 1];
	uint64_t record[BSA_RECORD_MAX / 8]; /* the last record, if it is in no batch */
	uint64_t bytes;
	bool reading;
	bool over; /* bsa_decode_next has returned code and err */
	int code;
	struct bsa_err err;
	atomic_bool stop;
};

/* ---- readers ---- */

static int reader_fill(struct reader *reader, struct bsa_batch *batch, struct bsa_err *err)
{
	return reader->quick ? bsa_quick_fill(reader->quick, batch, err) : bsa_graph_fill(reader->graph, batch, err);
}

static void *reader_thread(void *data)
{
	struct reader *reader = data;
	struct bsa_err err = { "" };
	struct bsa_batch *batch;
	int r = 1;

	while (r > 0 && !atomic_load_explicit(&reader->d->stop, memory_order_relaxed)) {
		batch = bsa_ring_room(&reader->ring);
		if (!batch)
			break;
		r = reader_fill(reader, batch, &err);
		bsa_ring_push(&reader->ring);
	}
	bsa_ring_end(&reader->ring, r < 0 ? r : 0, &err);
	return NULL;
}

static int reader_start(struct bsa_decode *d, unsigned i, struct bsa_err *err)
{
	struct reader *reader = &d->readers[i];
	int r = i < d->n_quick ? bsa_quick_new(&reader->quick, &d->inputs, d->first, d->end, i, reader->counts, err)
	                       : bsa_graph_new(&reader->graph, &d->inputs, d->first, d->end, i, d->source,
	                                       reader->counts, err);

	reader->over = false;
	reader->batch = NULL;
	if (r)
		return r;
	if (d->threads == 1) {
		reader->own = malloc(sizeof(*reader->own));
		return reader->own ? 0 : bsa_fail(err, BSA_E_ENV, "there is no memory left to read traces");
	}
	return bsa_ring_init(&reader->ring, err);
}

static void stop_readers(struct bsa_decode *d)
{
	for (unsigned i = 0; i < d->n_readers; i++) {
		struct reader *reader = &d->readers[i];

		if (reader->running) {
			bsa_ring_close(&reader->ring);
			pthread_join(reader->thread, NULL);
			reader->running = false;
		}
		reader->graph = bsa_graph_free(reader->graph);
		reader->quick = bsa_quick_free(reader->quick);
		bsa_ring_fini(&reader->ring);
		free(reader->own);
		reader->own = NULL;
	}
	d->reading = false;
}

/* ---- one group of traces ---- */

/* The largest stream without a reader. */
static struct bsa_input_stream *largest_stream(struct bsa_decode *d, bool quick)
{
	struct bsa_input_stream *largest = NULL;

	for (size_t i = d->first; i < d->end; i++)
		for (size_t k = 0; !d->inputs.list[i].recipe == !quick && k < d->inputs.list[i].n_streams; k++) {
			struct bsa_input_stream *stream = &d->inputs.list[i].streams[k];

			if (stream->reader == READERS_MAX && (!largest || stream->bytes > largest->bytes))
				largest = stream;
		}
	return largest;
}

/* Give the largest stream that is left to the reader with the fewest bytes, of those from @first to before @end. */
static void share_out(struct bsa_decode *d, bool quick, unsigned first, unsigned end)
{
	uint64_t has[READERS_MAX] = { 0 };
	struct bsa_input_stream *largest;

	while ((largest = largest_stream(d, quick))) {
		unsigned least = first;

		for (unsigned i = first + 1; i < end; i++)
			if (has[i] < has[least])
				least = i;
		largest->reader = least;
		has[least] += largest->bytes + 1;
	}
}

/* The number of streams of the group that quick readers read, or of the others. */
static size_t streams_count(const struct bsa_decode *d, bool quick)
{
	size_t n = 0;

	for (size_t i = d->first; i < d->end; i++)
		if (!d->inputs.list[i].recipe == !quick)
			n += d->inputs.list[i].n_streams;
	return n;
}

/* No stream of the group has a reader. */
static void streams_unassign(struct bsa_decode *d)
{
	for (size_t i = d->first; i < d->end; i++)
		for (size_t k = 0; k < d->inputs.list[i].n_streams; k++)
			d->inputs.list[i].streams[k].reader = READERS_MAX;
}

/* Each stream keeps a file open while it is read; babeltrace2 reports a file that it cannot open as a cut one. */
static int allow_files(size_t streams, struct bsa_err *err)
{
	enum { OTHERS = 64 };
	rlim_t wanted = streams + OTHERS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return 0;
	limit.rlim_cur = wanted;
	if (limit.rlim_max >= wanted && !setrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return bsa_fail(err, BSA_E_ENV,
	                "%zu streams need %llu open files; raise the hard limit, which is %llu (ulimit -Hn)", streams,
	                (unsigned long long)wanted, (unsigned long long)limit.rlim_max);
}

/* ---- records ---- */

/* The reader's next batch that is not empty. 1: *ret is that batch; 0: the reader has no more events. */
static int next_batch(struct reader *reader, struct bsa_err *err)
{
	int r;

	reader->at = 0;
	if (atomic_load_explicit(&reader->d->stop, memory_order_relaxed))
		return bsa_fail(err, BSA_E_STOPPED, "stopped");
	if (reader->own) {
		r = 1;
		reader->own->bytes = 0;
		while (r > 0 && !reader->own->bytes && !reader->over) {
			r = reader_fill(reader, reader->own, err);
			reader->over = r == 0;
		}
		if (r < 0)
			return r;
		reader->batch = reader->own;
		return reader->own->bytes > 0;
	}
	do {
		if (reader->batch)
			bsa_ring_pop(&reader->ring);
		reader->batch = NULL;
		r = bsa_ring_next(&reader->ring, &reader->batch, err);
	} while (r > 0 && !reader->batch->bytes);
	return r;
}

/* The next time of this group that was not seen. False: all of its times were seen. */
static bool unseen_head(const struct bsa_decode *d, struct bsa_head *ret)
{
	if (d->next_unseen == d->inputs.n_unseen || d->inputs.unseen[d->next_unseen].input >= d->end)
		return false;
	*ret = (struct bsa_head){ .at = d->inputs.unseen[d->next_unseen].at, .rank = 0, .who = READERS_MAX };
	return true;
}

static bool step_unseen(struct bsa_decode *d, struct bsa_head *head, const struct bsa_event **ret)
{
	const struct bsa_unseen *unseen = &d->inputs.unseen[d->next_unseen++];
	struct bsa_event *event = (struct bsa_event *)d->record;

	*event = (struct bsa_event){ .at = unseen->at,
		                     .trace = (uint32_t)unseen->input + 1,
		                     .kind = BSA_loss,
		                     .size = sizeof(*event) + sizeof(unseen->loss) };
	memcpy(event + 1, &unseen->loss, sizeof(unseen->loss));
	*ret = event;
	return unseen_head(d, head);
}

static void reader_head(const struct bsa_decode *d, size_t who, struct bsa_head *ret)
{
	const struct reader *reader = &d->readers[who];
	const struct bsa_queued *first = bsa_queued_at(reader->batch, reader->at);

	*ret = (struct bsa_head){ .at = first->event.at, .rank = first->rank, .who = who };
}

/* A bsa_step. The last record of a batch is copied, because the next batch may take its place. */
static inline int step_reader(void *decode, struct bsa_head *head, const struct bsa_event **ret, struct bsa_err *err)
{
	struct bsa_decode *d = decode;
	struct reader *reader = &d->readers[head->who];
	int r = 1;

	if (__builtin_expect(head->who == READERS_MAX, 0))
		return step_unseen(d, head, ret);
	*ret = &bsa_queued_next(reader->batch, &reader->at)->event;
	if (__builtin_expect(reader->at == reader->batch->bytes, 0)) {
		*ret = memcpy(d->record, *ret, (*ret)->size);
		r = next_batch(reader, err);
	}
	if (r > 0)
		reader_head(d, head->who, head);
	return r;
}

/* To the first record of the next group: 0; what went wrong stays so. */
static int next_group(struct bsa_decode *d, struct bsa_err *err)
{
	size_t quick, others, most;
	struct bsa_head head;
	int r;

	if (d->reading) {
		stop_readers(d);
		d->first = d->end;
	}
	if (d->first == d->inputs.n)
		return 0;
	for (d->end = d->first + 1; d->end < d->inputs.n; d->end++)
		if (d->inputs.list[d->end].info.clock_group != d->inputs.list[d->first].info.clock_group)
			break;
	quick = streams_count(d, true);
	others = streams_count(d, false);
	r = allow_files(quick + others, err);

	/* One quick reader is faster than the fold, so more readers do not pay. */
	d->n_quick = quick ? 1 : 0;
	most = d->threads > d->n_quick ? d->threads - d->n_quick : 1;
	d->n_readers = d->n_quick + (unsigned)(others < most ? others : most);
	if (!d->n_readers)
		d->n_readers = 1;
	streams_unassign(d);
	share_out(d, true, 0, d->n_quick);
	share_out(d, false, d->n_quick, d->n_readers);

	d->reading = true;
	for (unsigned i = 0; r == 0 && i < d->n_readers; i++)
		r = reader_start(d, i, err);
	for (unsigned i = 0; r == 0 && d->threads > 1 && i < d->n_readers; i++) {
		int failed = pthread_create(&d->readers[i].thread, NULL, reader_thread, &d->readers[i]);

		if (failed)
			r = bsa_fail(err, BSA_E_ENV, "a thread to read traces cannot be started: %s", strerror(failed));
		d->readers[i].running = !failed;
	}
	if (r)
		return r;

	d->ordered.last = 0; /* another clock */
	assert(!d->ordered.merge.n);
	if (unseen_head(d, &head))
		bsa_merge_add(&d->ordered.merge, head);
	for (unsigned i = 0; i < d->n_readers; i++) {
		r = next_batch(&d->readers[i], err);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		reader_head(d, i, &head);
		bsa_merge_add(&d->ordered.merge, head);
	}
	return 0;
}

/* No record follows the end, and the first error is returned from then on. */
static int decode_end(struct bsa_decode *d, int r, struct bsa_err *err)
{
	if (!d->over) {
		d->over = true;
		d->code = r;
		d->ordered.merge.n = 0;
		if (err)
			d->err = *err;
	} else if (d->code && err) {
		*err = d->err;
	}
	return d->code;
}

int bsa_decode_next(struct bsa_decode *d, const struct bsa_event **ret, struct bsa_err *err)
{
	int r;

	while (__builtin_expect((r = bsa_ordered_next(&d->ordered, step_reader, d, ret, err)) == 0, 0)) {
		if (!d->over)
			r = next_group(d, err);
		if (r < 0 || !d->reading || d->over)
			break;
	}
	return __builtin_expect(r > 0, 1) ? r : decode_end(d, r, err);
}

/* ---- all of it ---- */

static int decode_make_room(struct bsa_decode *d, struct bsa_err *err)
{
	d->ordered = (struct bsa_ordered){ .merge.heap = d->heads, .ties = bsa_ties_new(), .until = BSA_NEVER };
	if (!d->ordered.ties)
		return bsa_fail(err, BSA_E_ENV, "there is no memory left to read traces");
	for (unsigned i = 0; i < READERS_MAX; i++) {
		struct reader *reader = &d->readers[i];

		reader->d = d;
		reader->counts = calloc(d->inputs.n, sizeof(*reader->counts));
		if (!reader->counts)
			return bsa_fail(err, BSA_E_ENV, "there is no memory left to read traces");
		for (size_t k = 0; k < d->inputs.n; k++)
			bsa_counts_init(&reader->counts[k]);
	}
	for (size_t i = 0; i < d->inputs.n; i++)
		d->bytes += d->inputs.list[i].info.bytes;
	return 0;
}

int bsa_decode_open(struct bsa_decode **ret, const char *const *paths, size_t n_paths,
                    const struct bsa_decode_options *options, struct bsa_err *err)
{
	const struct bsa_decode_options wanted = options ? *options : (struct bsa_decode_options){ 0 };
	struct bsa_decode *d = calloc(1, sizeof(*d));
	struct bsa_places places = { 0 };
	int r = d ? 0 : bsa_fail(err, BSA_E_ENV, "there is no memory left to read traces");

	if (r == 0)
		r = bsa_discover(&places, paths, n_paths, err);
	if (r == 0 && !(d->source = bsa_ctf_class("fs", err)))
		r = BSA_E_ENV;
	if (r == 0)
		r = bsa_inputs_open(&d->inputs, &places, d->source, &wanted, err);
	if (r == 0)
		r = decode_make_room(d, err);
	bsa_places_fini(&places);
	if (r) {
		bsa_decode_free(d);
		return r;
	}
	d->threads = wanted.threads;
	if (!d->threads) {
		cpu_set_t cpus;
		int n = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

		d->threads = n < 1 ? 1 : (unsigned)n;
	}
	if (d->threads > READERS_MAX)
		d->threads = READERS_MAX;
	*ret = d;
	return 0;
}

struct bsa_decode *bsa_decode_free(struct bsa_decode *d)
{
	if (!d)
		return NULL;
	stop_readers(d);
	for (unsigned i = 0; i < READERS_MAX; i++)
		free(d->readers[i].counts);
	bsa_ties_free(d->ordered.ties);
	bsa_inputs_close(&d->inputs);
	bt_component_class_source_put_ref(d->source);
	free(d);
	return NULL;
}

const struct bsa_trace *bsa_decode_trace(const struct bsa_decode *d, size_t i)
{
	return i < d->inputs.n ? &d->inputs.list[i].info : NULL;
}

struct bsa_decoded bsa_decode_decoded(const struct bsa_decode *d, size_t i)
{
	struct bsa_decoded sum = { .began = BSA_NEVER, .ended = BSA_NEVER };

	assert(i < d->inputs.n);
	sum.unknown_fields = d->inputs.list[i].unknown_fields;
	sum.repeated = d->inputs.list[i].files.repeated;
	sum.doubtful = d->inputs.list[i].files.doubtful;
	sum.wrong_indices = d->inputs.list[i].files.wrong_indices;
	sum.from_start = d->inputs.list[i].from_start;
	sum.cut = d->inputs.list[i].cut;
	for (unsigned k = 0; k < READERS_MAX; k++)
		bsa_counts_add(&sum, &d->readers[k].counts[i]);
	return sum;
}

void bsa_decode_progress(const struct bsa_decode *d, uint64_t *ret_done, uint64_t *ret_all)
{
	uint64_t done = 0;

	for (unsigned k = 0; k < READERS_MAX; k++)
		for (size_t i = 0; i < d->inputs.n; i++)
			done += atomic_load_explicit(&d->readers[k].counts[i].bytes, memory_order_relaxed);
	*ret_done = done < d->bytes && !(d->over && !d->code) ? done : d->bytes;
	*ret_all = d->bytes;
}

void bsa_decode_stop(struct bsa_decode *d)
{
	atomic_store_explicit(&d->stop, true, memory_order_relaxed);
}
