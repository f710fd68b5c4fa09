/*
 * unseen.c -- computes the times between packets. Times are cycles of the clock until a record is
 * made of them.
 */
#include "unseen.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "ring_names.h"
#include "stop.h"

enum { NS = 1000000000 };

/* One stream: all stretches of all its files, in the order of their packets. */
struct stream {
	struct bsa_stretch *stretches;
	size_t n;
	size_t input;
	uint64_t class, instance;
	uint32_t cpu;
	bool cut;
	uint64_t *joints; /* when the directories of a rotated session begin */
	size_t n_joints, joints_room;
	size_t before_gap; /* how many stretches begin before the end of the gap that is looked at */
};

/* Traces of one session of one host: LTTng starts, stops, rotates and snapshots them together. */
struct recording {
	struct bsa_inputs *inputs;
	struct stream *streams;
	size_t n_streams, streams_room;
	bool no_memory;
};

/* A stretch of time with packets, and a trace that it is of. */
struct covered {
	uint64_t began, ended;
	size_t input;
	bool began_with_event; /* false: the packet began when LTTng made the buffer */
};

/* ---- streams ---- */

static void add_file(struct recording *r, size_t input, const struct bsa_file *file)
{
	struct stream *s = r->streams;
	struct bsa_stretch *more;
	bool fits;

	while (s < r->streams + r->n_streams &&
	       (s->input != input || s->class != file->stream_class || s->instance != file->stream))
		s++;
	if (s == r->streams + r->n_streams) {
		if (!BSA_RESERVE(r->streams, r->streams_room, r->n_streams + 1, 16)) {
			r->no_memory = true;
			return;
		}
		s = &r->streams[r->n_streams++];
		*s = (struct stream){
			.input = input, .class = file->stream_class, .instance = file->stream, .cpu = file->cpu
		};
	}

	more = reallocarray(s->stretches, s->n + file->n_stretches, sizeof(*more));
	fits = BSA_RESERVE(s->joints, s->joints_room, s->n_joints + 1, 1);
	if (more)
		s->stretches = more;
	if (!more || !fits) {
		r->no_memory = true;
		return;
	}
	memcpy(s->stretches + s->n, file->stretches, file->n_stretches * sizeof(*more));
	s->n += file->n_stretches;
	s->cut |= file->cut;
	if (r->inputs->list[input].n_directories > 1)
		s->joints[s->n_joints++] = file->stretches[0].began;
}

static int by_packet(const void *a, const void *b)
{
	const struct bsa_stretch *l = a, *r = b;

	if (l->number != r->number)
		return l->number < r->number ? -1 : 1;
	return (l->began > r->began) - (l->began < r->began);
}

static void recording_fini(struct recording *r)
{
	for (size_t i = 0; i < r->n_streams; i++) {
		free(r->streams[i].stretches);
		free(r->streams[i].joints);
	}
	free(r->streams);
}

static uint64_t last_end(const struct stream *s)
{
	uint64_t ended = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->stretches[i].ended > ended)
			ended = s->stretches[i].ended;
	return ended;
}

/* ---- records ---- */

static uint64_t cycles_to_ns(const struct bsa_input *input, uint64_t cycles)
{
	unsigned __int128 wide = (unsigned __int128)cycles * NS / input->frequency;

	return wide > UINT64_MAX ? UINT64_MAX : (uint64_t)wide;
}

/* From @began to @ended, in cycles. */
static void add_unseen(struct recording *r, size_t input, uint64_t began, uint64_t ended, struct bsa_loss loss)
{
	struct bsa_inputs *inputs = r->inputs;
	const struct bsa_input *of = &inputs->list[input];

	if (!BSA_RESERVE(inputs->unseen, inputs->unseen_room, inputs->n_unseen + 1, 16)) {
		r->no_memory = true;
		return;
	}
	loss.ended = cycles_to_ns(of, ended);
	loss.events = loss.packets = BSA_NEVER;
	loss.pid = of->pid;
	if (began < ended && loss.ended <= INT64_MAX)
		inputs->unseen[inputs->n_unseen++] = (struct bsa_unseen){
			.loss = loss, .at = cycles_to_ns(of, began), .input = input, .group = of->info.clock_group
		};
}

/* The earliest begin and the latest end of a trace's streams. False: the trace has no streams. */
static bool trace_bounds(const struct recording *r, size_t input, struct covered *ret)
{
	*ret = (struct covered){ .began = UINT64_MAX, .input = input };
	for (const struct stream *s = r->streams; s < r->streams + r->n_streams; s++) {
		if (s->input != input)
			continue;
		if (s->stretches[0].began < ret->began)
			ret->began = s->stretches[0].began;
		if (last_end(s) > ret->ended)
			ret->ended = last_end(s);
	}
	return ret->began != UINT64_MAX;
}

/*
 * Whether nothing shows a snapshot, a rotation, or tracefiles that may be used again: then the packets before the
 * first one of a stream were lost, and not overwritten in a ring or recorded into another directory. burstscope watch
 * gives the directories of its snapshots names of its own; of its session no end is written down, as burstscope
 * record does.
 */
static bool is_no_ring(const struct bsa_input *of)
{
	for (size_t i = 0; i < of->files.n; i++)
		if (bsa_is_tracefile(of->files.list[i].path))
			return false;
	return of->n_directories == 1 && !bsa_is_of_snapshot(of->info.path) &&
	       (of->until || !bsa_is_ring_session(of->info.session));
}

/* Whether the files show neither a snapshot nor a rotation of a session. */
static bool is_no_part(const struct bsa_input *of)
{
	return !of->files.unindexed && !bsa_is_of_rotation(of->info.path);
}

/* The streams of the trace; *ret_headless: those that do not begin with their packet 0. */
static size_t streams_of(const struct recording *r, size_t input, size_t *ret_headless)
{
	size_t n = 0;

	*ret_headless = 0;
	for (const struct stream *s = r->streams; s < r->streams + r->n_streams; s++) {
		n += s->input == input;
		*ret_headless += s->input == input && s->stretches[0].number;
	}
	return n;
}

/*
 * Packets before the first one of a stream were lost for certain if another stream begins with its packet 0. Where none
 * does, the trace alone may be a snapshot's or a rotation's under another name. Neither is one of which burstscope
 * record wrote the end down, or, unless its path is that of a rotation, one with indices: then the heads of all streams
 * are lost, for a time that nothing shows, so the loss is as short as can be.
 */
static void find_heads(struct recording *r, const struct covered *trace)
{
	const struct bsa_input *of = &r->inputs->list[trace->input];
	uint64_t began = trace->began;
	size_t headless;
	bool any = streams_of(r, trace->input, &headless) > headless, known = any && is_no_ring(of);

	if (!any && (of->until || is_no_part(of)) && is_no_ring(of) && began)
		add_unseen(r, trace->input, began - 1, began,
		           (struct bsa_loss){ .cause = BSA_LOSS_HEAD, .cpu = UINT32_MAX, .known = true });

	/*
	 * The begin of the first trace that was recorded together with @trace: session names are used again,
	 * so a name alone does not decide.
	 */
	for (size_t i = 0; i < r->inputs->n; i++) {
		struct covered other;

		if (trace_bounds(r, i, &other) && other.began <= trace->ended && other.ended >= trace->began &&
		    other.began < began)
			began = other.began;
	}
	for (const struct stream *s = r->streams; s < r->streams + r->n_streams; s++)
		if (s->input == trace->input && s->stretches[0].number)
			add_unseen(r, s->input, began, s->stretches[0].began,
			           (struct bsa_loss){ .cause = BSA_LOSS_HEAD, .cpu = s->cpu, .known = known });
}

/* graph.c reports when a cut file ends, unless the file is cut within its first packet's header. */
static void find_tails(struct recording *r, const struct covered *trace)
{
	const struct bsa_files *files = &r->inputs->list[trace->input].files;
	uint64_t until = r->inputs->list[trace->input].until, ended = trace->ended > until ? trace->ended : until;

	for (const struct stream *s = r->streams; s < r->streams + r->n_streams; s++)
		if (s->input == trace->input && !s->cut)
			add_unseen(r, s->input, last_end(s), ended,
			           (struct bsa_loss){
					   .cause = BSA_LOSS_TAIL, .cpu = s->cpu, .known = last_end(s) < until });
	for (size_t i = 0; i < files->unwritten; i++)
		add_unseen(r, trace->input, trace->began, ended,
		           (struct bsa_loss){ .cause = BSA_LOSS_TAIL, .cpu = UINT32_MAX, .known = until > 0 });
	for (size_t i = 0; i < files->n; i++)
		if (!files->list[i].known)
			add_unseen(r, trace->input, trace->began, ended,
			           (struct bsa_loss){ .cause = BSA_LOSS_CUT, .cpu = UINT32_MAX });
}

/* ---- streams that are missing ---- */

enum { CPUS_MAX = 1 << 16 };

/*
 * The machine has all cpus up to the highest one that any stream of the recording is of, or was when the
 * recorder stopped.
 */
static void find_missing(struct recording *r)
{
	uint32_t n_cpus = 0;

	for (const struct stream *s = r->streams; s < r->streams + r->n_streams; s++)
		if (s->cpu < CPUS_MAX && s->cpu >= n_cpus)
			n_cpus = s->cpu + 1;
	for (const struct stream *s = r->streams; s < r->streams + r->n_streams; s++)
		if (r->inputs->list[s->input].recorded_streams > n_cpus)
			n_cpus = r->inputs->list[s->input].recorded_streams;
	for (size_t i = 0; i < r->n_streams; i++) {
		const struct stream s = r->streams[i];
		const struct bsa_files *files = &r->inputs->list[s.input].files;
		struct covered trace;
		size_t first = 0, k, n = files->unwritten;

		while (r->streams[first].input != s.input || r->streams[first].class != s.class)
			first++;
		if (first < i)
			continue;

		/* Count the class's streams that have a file, even if nothing can be read in it. */
		for (k = 0; k < files->n; k++)
			n += !files->list[k].known;
		for (k = 0; k < r->n_streams; k++)
			n += r->streams[k].input == s.input && r->streams[k].class == s.class;
		if (n >= n_cpus)
			continue;
		trace_bounds(r, s.input, &trace);
		for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
			k = first;
			while (k < r->n_streams && (r->streams[k].input != s.input || r->streams[k].class != s.class ||
			                            r->streams[k].cpu != cpu))
				k++;
			if (k == r->n_streams)
				add_unseen(r, s.input, trace.began, trace.ended,
				           (struct bsa_loss){ .cause = BSA_LOSS_STREAM, .cpu = cpu });
		}
	}
}

/* ---- gaps ---- */

static int by_begin(const void *a, const void *b)
{
	const struct covered *l = a, *r = b;

	return (l->began > r->began) - (l->began < r->began);
}

static bool is_rotated_in(const struct recording *r, uint64_t began, uint64_t ended)
{
	for (const struct stream *s = r->streams; s < r->streams + r->n_streams; s++)
		for (size_t i = 0; i < s->n_joints; i++)
			if (s->joints[i] >= began && s->joints[i] <= ended)
				return true;
	return false;
}

/*
 * True: the session was not stopped before @until, where a gap ends; @event is the time of an event before the gap.
 * Call this with ascending @until.
 */
static bool is_no_stop(struct recording *r, uint64_t event, uint64_t until)
{
	struct bsa_stop stop = { .event = event };

	for (struct stream *s = r->streams; s < r->streams + r->n_streams; s++) {
		const struct bsa_stretch *next;

		while (s->before_gap < s->n && s->stretches[s->before_gap].began < until)
			s->before_gap++;
		if (!s->before_gap || s->before_gap == s->n)
			continue;
		next = &s->stretches[s->before_gap];
		bsa_stop_add(&stop, next[-1].last_number, next[-1].ended, next->number);
	}
	return bsa_stop_is_refuted(&stop);
}

static void find_gaps_between(struct recording *r, struct covered *all, size_t n)
{
	struct covered until;
	uint64_t event = 0;

	qsort(all, n, sizeof(*all), by_begin);
	until = n ? all[0] : (struct covered){ 0 };

	for (size_t i = 1; i < n; i++) {
		if (all[i - 1].began_with_event)
			event = all[i - 1].began;
		if (all[i].began > until.ended && !is_no_stop(r, event, all[i].began))
			add_unseen(r, until.input, until.ended, all[i].began,
			           (struct bsa_loss){ .cause = BSA_LOSS_GAP,
			                              .cpu = UINT32_MAX,
			                              .rotated = is_rotated_in(r, until.ended, all[i].began) });
		if (all[i].ended > until.ended)
			until = all[i];
	}
}

static void find_gaps(struct recording *r)
{
	struct covered *all;
	size_t n = 0;

	for (size_t i = 0; i < r->n_streams; i++)
		n += r->streams[i].n;
	all = calloc(n + 1, sizeof(*all));
	if (!all) {
		r->no_memory = true;
		return;
	}
	n = 0;
	for (const struct stream *s = r->streams; s < r->streams + r->n_streams; s++)
		for (size_t i = 0; i < s->n; i++)
			if (!s->stretches[i].empty)
				all[n++] = (struct covered){ s->stretches[i].began, s->stretches[i].ended, s->input,
					                     s->stretches[i].number > 0 };
	find_gaps_between(r, all, n);
	free(all);
}

/* ---- doubts ---- */

/* If packets contradict each other, some are left out, although they may have been the true ones. False: no memory. */
static bool find_doubts(struct bsa_inputs *inputs)
{
	struct recording r = { .inputs = inputs };

	for (size_t i = 0; i < inputs->n; i++) {
		const struct bsa_files *files = &inputs->list[i].files;
		struct covered all = { .began = UINT64_MAX };

		/* All of the trace's time. Its files are not sorted by stream here. */
		for (size_t k = 0; k < files->n; k++) {
			const struct bsa_file *file = &files->list[k];

			if (!file->packets)
				continue;
			all.began = file->first.began < all.began ? file->first.began : all.began;
			all.ended = file->last.ended > all.ended ? file->last.ended : all.ended;
		}
		for (size_t k = 0; inputs->list[i].frequency && k < files->n; k++) {
			const struct bsa_file *file = &files->list[k];
			uint64_t began = file->doubtful_began, ended = file->doubtful_ended;

			add_unseen(&r, i, began > all.began ? began : all.began, ended < all.ended ? ended : all.ended,
			           (struct bsa_loss){ .cause = BSA_LOSS_CUT, .cpu = file->cpu });
		}
	}
	return !r.no_memory;
}

/* ---- all ---- */

static bool one_recording(const struct bsa_trace *a, const struct bsa_trace *b)
{
	return a->clock_group == b->clock_group && !strcmp(a->session, b->session);
}

/* The recording that input @first is the first of. *ret: all of its time; it ends at 0 if none is known. */
static bool find_of(struct bsa_inputs *inputs, size_t first, struct covered *ret)
{
	struct recording r = { .inputs = inputs };

	*ret = (struct covered){ .began = UINT64_MAX, .input = first };
	for (size_t i = first; i < inputs->n; i++)
		if (one_recording(&inputs->list[first].info, &inputs->list[i].info)) {
			const struct bsa_input *input = &r.inputs->list[i];

			for (size_t k = 0; input->files.by_lttng && input->frequency && k < input->files.n; k++)
				if (input->files.list[k].known && input->files.list[k].n_stretches)
					add_file(&r, i, &input->files.list[k]);
		}
	if (!r.n_streams) { /* without streams there is no array of them */
		recording_fini(&r);
		return !r.no_memory;
	}
	for (struct stream *s = r.streams; s < r.streams + r.n_streams; s++)
		qsort(s->stretches, s->n, sizeof(*s->stretches), by_packet);
	for (size_t i = first; i < inputs->n && !r.no_memory; i++) {
		struct covered trace;
		size_t headless;

		if (!trace_bounds(&r, i, &trace))
			continue;
		inputs->list[i].from_start = streams_of(&r, i, &headless) && !headless;
		find_heads(&r, &trace);
		find_tails(&r, &trace);
		ret->began = trace.began < ret->began ? trace.began : ret->began;
		ret->ended = trace.ended > ret->ended ? trace.ended : ret->ended;
	}
	if (!r.no_memory) {
		find_missing(&r);
		find_gaps(&r);
	}
	recording_fini(&r);
	return !r.no_memory;
}

static int by_group_and_time(const void *a, const void *b)
{
	const struct bsa_unseen *l = a, *r = b;

	if (l->group != r->group)
		return l->group < r->group ? -1 : 1;
	if (l->at != r->at)
		return l->at < r->at ? -1 : 1;
	if (l->input != r->input)
		return l->input < r->input ? -1 : 1;
	return (l->loss.cpu > r->loss.cpu) - (l->loss.cpu < r->loss.cpu);
}

bool bsa_unseen_find(struct bsa_inputs *inputs)
{
	size_t first = 0, end;

	for (; first < inputs->n; first = end) {
		struct recording r = { .inputs = inputs };
		struct covered *recordings;
		size_t n = 0;

		for (end = first + 1; end < inputs->n; end++)
			if (inputs->list[end].info.clock_group != inputs->list[first].info.clock_group)
				break;

		recordings = calloc(end - first, sizeof(*recordings));
		r.no_memory = !recordings;
		for (size_t i = first; i < end && !r.no_memory; i++) {
			size_t k = 0;

			while (k < i && !one_recording(&inputs->list[k].info, &inputs->list[i].info))
				k++;
			if (k < i) /* not the first input of its recording */
				continue;
			r.no_memory = !find_of(inputs, i, &recordings[n]);
			n += recordings[n].ended > 0;
		}
		/* Between two recordings of one service nothing was recorded, either. */
		if (!r.no_memory)
			find_gaps_between(&r, recordings, n);
		free(recordings);
		if (r.no_memory)
			return false;
	}
	if (!find_doubts(inputs))
		return false;
	if (inputs->n_unseen)
		qsort(inputs->unseen, inputs->n_unseen, sizeof(*inputs->unseen), by_group_and_time);
	return true;
}
