/* inputs.c -- keeps the traces that were found, with their properties and streams. */
#include "inputs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "failed.h"
#include "heads.h"
#include "look.h"
#include "mend.h"
#include "metadata.h"
#include "recorded.h"
#include "trial.h"
#include "unseen.h"

static int inputs_no_memory(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "there is no memory left to open traces");
}

const bt_component_source *bsa_input_add(const struct bsa_input *input, bt_graph *graph,
                                         const bt_component_class_source *source)
{
	const bt_component_source *component = NULL;
	bt_value *params = bt_value_map_create(), *list = NULL;
	bool done = params && bt_value_map_insert_empty_array_entry(params, "inputs", &list) ==
	                              BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK;

	for (size_t i = 0; done && i < input->n_directories; i++)
		done = bt_value_array_append_string_element(list, input->directories[i]) ==
		       BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK;
	/* components of a graph differ by name, and directories do */
	if (done && bt_graph_add_source_component(graph, source, input->directories[0], params, BT_LOGGING_LEVEL_NONE,
	                                          &component) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		component = NULL;
	bt_value_put_ref(params);
	return component;
}

void bsa_input_fini(struct bsa_input *input)
{
	const struct bsa_trace *info = &input->info;
	const char *const texts[] = {
		info->path, info->uuid, info->host, info->session, info->clock, info->clock_uuid
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free((char *)texts[i]);
	for (size_t i = 0; i < input->n_directories; i++)
		free(input->directories[i]);
	for (size_t i = 0; i < input->n_streams; i++) {
		free(input->streams[i].port);
		free(input->streams[i].path);
		free(input->streams[i].spans);
	}
	bsa_files_fini(&input->files);
	bsa_recipe_free(input->recipe);
	free(input->directories);
	free(input->streams);
	*input = (struct bsa_input){ 0 };
}

void bsa_inputs_close(struct bsa_inputs *inputs)
{
	for (size_t i = 0; i < inputs->n; i++)
		bsa_input_fini(&inputs->list[i]);
	free(inputs->list);
	free(inputs->unseen);
	bsa_scratch_remove(&inputs->scratch);
	*inputs = (struct bsa_inputs){ 0 };
}

static bool add_directory(struct bsa_input *input, const char *path)
{
	char **added;

	if (!BSA_RESERVE(input->directories, input->directories_room, input->n_directories + 1, 1))
		return false;
	added = &input->directories[input->n_directories];
	*added = strdup(path);
	if (!*added)
		return false;
	input->n_directories++;
	if (!input->info.path)
		input->info.path = strdup(path);
	return input->info.path;
}

/* Make one input of all directories that have the same UUID. */
static bool gather_traces(struct bsa_inputs *inputs, const struct bsa_places *places)
{
	char(*uuids)[BSA_UUID_TEXT] = calloc(places->n + 1, sizeof(*uuids));
	bool done;

	inputs->list = calloc(places->n + 1, sizeof(*inputs->list));
	done = uuids && inputs->list;
	for (size_t i = 0; done && i < places->n; i++) {
		char uuid[BSA_UUID_TEXT];
		size_t k = 0;

		bsa_metadata_uuid(uuid, places->paths[i]);
		while (k < inputs->n && (!*uuid || strcmp(uuids[k], uuid)))
			k++;
		if (k == inputs->n)
			memcpy(uuids[inputs->n++], uuid, sizeof(uuid));
		done = add_directory(&inputs->list[k], places->paths[i]);
	}
	free(uuids);
	return done;
}

/* True: the stream has this class and number, according to the end of babeltrace2's name of its port. */
static bool is_at(const struct bsa_input_stream *stream, uint64_t stream_class, uint64_t instance)
{
	size_t length = strlen(stream->port), n;
	char end[64];

	n = (size_t)snprintf(end, sizeof(end), " | %" PRIu64 " | %" PRIu64, stream_class, instance);
	return length >= n && !strcmp(stream->port + length - n, end);
}

/* Each stream in one file, and each file a plain one. */
static bool has_plain_files(struct bsa_input *input, const struct bsa_files *files)
{
	if (files->n != input->n_streams)
		return false;
	for (size_t i = 0; i < files->n; i++) {
		struct bsa_packet_head head;
		size_t k = 0;

		if (!bsa_heads_are_plain(&head, input->recipe, files->list[i].path))
			return false;
		while (k < input->n_streams && !is_at(&input->streams[k], head.stream->id, head.instance))
			k++;
		if (k == input->n_streams || input->streams[k].path)
			return false;
		input->streams[k].path = strdup(files->list[i].path);
		input->streams[k].recipe = head.stream;
		if (!input->streams[k].path)
			return false;
	}
	return true;
}

static int by_begin(const void *a, const void *b)
{
	const struct bsa_span *one = a, *other = b;

	if (one->began != other->began)
		return one->began < other->began ? -1 : 1;
	return (one->ended > other->ended) - (one->ended < other->ended);
}

/* Add the packets of a file of the stream. A stream has several files where the session was rotated. */
static bool add_spans(struct bsa_input_stream *stream, const struct bsa_file *file)
{
	struct bsa_span *list = reallocarray(stream->spans, stream->n_spans + file->packets + 1, sizeof(*list));

	if (!list)
		return false;
	memcpy(list + stream->n_spans, file->spans, file->packets * sizeof(*list));
	stream->spans = list;
	stream->n_spans += file->packets;
	qsort(list, stream->n_spans, sizeof(*list), by_begin);
	return true;
}

/* The earliest end of the last packets of all streams, in cycles. 0: of one it is not known. */
static uint64_t earliest_end(const struct bsa_input *input)
{
	uint64_t earliest = UINT64_MAX;

	for (size_t i = 0; i < input->n_streams; i++) {
		const struct bsa_input_stream *stream = &input->streams[i];
		uint64_t ended = stream->n_spans ? stream->spans[stream->n_spans - 1].ended : UINT64_MAX;

		if (ended == UINT64_MAX)
			return 0;
		earliest = ended < earliest ? ended : earliest;
	}
	return input->n_streams && !input->files.unwritten ? earliest : 0;
}

/*
 * When did the recording end? LTTng writes the last packets of all streams when it has stopped the last process, and
 * waits for seconds for one that does not answer, while it has stopped others. So all processes were recorded until
 * then only if the recorder wrote down that it had not stopped them before; otherwise that is when all was over.
 */
static void find_the_end(struct bsa_input *input)
{
	const struct bsa_files *files = &input->files;
	unsigned __int128 last = (unsigned __int128)files->ended * 1000000000;

	if (!files->by_lttng || !input->frequency)
		return;
	last /= input->frequency;
	if (input->until && !files->cut && !files->doubtful && input->until <= earliest_end(input))
		input->info.recorded_until = input->until;
	else if (last <= INT64_MAX)
		input->info.over_by = last > input->until ? (uint64_t)last : input->until;
}

/* 1; 0: it is not ours. */
static int open_one(struct bsa_inputs *inputs, struct bsa_input *input, const bt_component_class_source *source,
                    enum bsa_decoder decoder, struct bsa_err *err)
{
	struct bsa_files *files = &input->files;
	bool left_out;
	int r = 0;

	for (size_t i = 0; r == 0 && i < input->n_directories; i++)
		r = bsa_metadata_whole(input->directories[i], err);
	for (size_t i = 0; r == 0 && i < input->n_directories; i++)
		r = bsa_mend(&input->directories[i], files, &inputs->scratch, err);
	if (r == 0)
		r = bsa_look(input, source, err);
	input->cut = files->cut;

	/* Read the notes of the recorder. A recorder that notes no clock uses LTTng's. */
	if (r > 0 && files->by_lttng && input->frequency == 1000000000 && !strcmp(input->info.clock, "monotonic")) {
		struct bsa_recorded recorded = bsa_recorded(input->info.path, input->info.session);

		input->until = recorded.until;
		input->recorded_streams = recorded.streams;
		input->info.until = recorded.until;
		input->info.boottime_known = recorded.boottime_known;
		input->info.boottime = recorded.boottime;
		input->info.scope = recorded.scope;
	}
	input->ended = files->ended > input->until ? files->ended : input->until;
	if (r <= 0)
		return r;

	/* The sizes of streams serve only to share streams out among threads evenly, and to report progress. */
	for (size_t i = 0; i < files->n; i++) {
		const struct bsa_file *file = &files->list[i];

		input->info.bytes += file->bytes;
		for (size_t k = 0; file->known && k < input->n_streams; k++) {
			struct bsa_input_stream *stream = &input->streams[k];

			if (!is_at(stream, file->stream_class, file->stream))
				continue;
			stream->bytes += file->bytes;
			stream->packets += file->packets;
			stream->cut |= file->cut;
			if (!add_spans(stream, file))
				return inputs_no_memory(err);
		}
	}

	find_the_end(input);

	/* The quick decoder reads the trace if it can and all is in order, otherwise babeltrace2. */
	left_out = files->repeated || files->doubtful;
	if (decoder == BSA_DECODER_BABELTRACE2 || files->cut || left_out || input->n_directories != 1 ||
	    !input->n_streams || (input->recipe && !has_plain_files(input, files)))
		input->recipe = bsa_recipe_free(input->recipe);
	if (decoder == BSA_DECODER_QUICK && !input->recipe)
		return bsa_fail(err, BSA_E_INPUT, "%s can only be read by babeltrace2", input->info.path);
	return 1;
}

/* The user who owns the buffers of an LTTng directory; UINT32_MAX: unknown. */
static uint32_t user_of(const char *path)
{
	static const char below[] = "/ust/uid/";
	const char *at = NULL;
	unsigned long uid;
	char *end;

	for (const char *p = strstr(path, below); p; p = strstr(p + 1, below))
		at = p + strlen(below);
	errno = 0;
	uid = at && *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : UINT32_MAX;
	return uid < UINT32_MAX && !errno && (*end == '/' || !*end) ? (uint32_t)uid : UINT32_MAX;
}

/*
 * Like open_one(). When there are other inputs, a child process first tries to read the buffers of a process,
 * or of a user other than root: that user's processes wrote them, and nothing in them may keep the import
 * from reading the other inputs.
 */
static int open_beside(struct bsa_inputs *inputs, struct bsa_input *input, const bt_component_class_source *source,
                       const struct bsa_decode_options *options, struct bsa_err *err)
{
	uint32_t uid = user_of(input->info.path);
	/* LTTng does not record which user owns the buffers of one process. */
	bool trusted = uid == UINT32_MAX ? !strstr(input->info.path, "/ust/pid/") : !uid;
	int r = inputs->n > 1 && !trusted ? bsa_trial(input->directories, input->n_directories, options->stop, err) : 0;
	struct bsa_trace info;

	if (r == 0)
		return open_one(inputs, input, source, options->decoder, err);
	if (r != BSA_E_INPUT)
		return r;

	/* The trace stays in the list without a stream: only its user is known. */
	info = (struct bsa_trace){ .path = strdup(input->info.path),
		                   .uuid = strdup(""),
		                   .host = strdup(""),
		                   .session = strdup(""),
		                   .clock = strdup(""),
		                   .clock_uuid = strdup(""),
		                   .uid = uid,
		                   .unreadable = true };
	bsa_input_fini(input);
	input->info = info;
	return info.path && info.uuid && info.host && info.session && info.clock && info.clock_uuid
	               ? 1
	               : inputs_no_memory(err);
}

/* A trace without events of our provider is left out. */
static int open_all(struct bsa_inputs *inputs, const bt_component_class_source *source,
                    const struct bsa_decode_options *options, struct bsa_err *err)
{
	size_t kept = 0, read = 0, all = inputs->n;
	struct bsa_err why = { "" };
	int r = 0;

	for (size_t i = 0; i < all && r >= 0; i++) {
		r = options->stop && atomic_load(options->stop)
		            ? bsa_fail(&why, BSA_E_STOPPED, "stopped")
		            : open_beside(inputs, &inputs->list[i], source, options, &why);
		read += r > 0 && !inputs->list[i].info.unreadable;
		if (r > 0) {
			struct bsa_input input = inputs->list[i];

			inputs->list[i] = inputs->list[kept];
			inputs->list[kept++] = input;
		}
	}
	if (r < 0 || (kept && !read))
		return bsa_fail(err, r < 0 ? r : BSA_E_INPUT, "%s", why.text);
	if (!kept && !options->may_be_foreign)
		return bsa_fail(
			err, BSA_E_INPUT,
			"%s is a trace, but without nnburst events; lttng enable-event -u 'nnburst:*' records them",
			inputs->list[0].info.path);
	for (size_t i = kept; i < all; i++)
		bsa_input_fini(&inputs->list[i]);
	inputs->n = kept;
	return 0;
}

/* Move the traces of one clock next to each other, to the place of the first one. */
static void group_by_clock(struct bsa_inputs *inputs)
{
	/* Rank 0 is for records of unseen times, which come before all other records of their time. */
	size_t done = 0, rank = 1;
	unsigned group = 0;

	for (; done < inputs->n; group++) {
		const struct bsa_trace first = inputs->list[done].info;

		for (size_t i = done, start = done; i < inputs->n; i++) {
			struct bsa_input input = inputs->list[i];

			/*
			 * Times of one clock of one host can be compared. A trace without a clock UUID is
			 * comparable with no other trace.
			 */
			if (i > start && (!*first.clock_uuid || strcmp(first.clock_uuid, input.info.clock_uuid) != 0 ||
			                  strcmp(first.host, input.info.host) != 0))
				continue;
			memmove(&inputs->list[done + 1], &inputs->list[done], (i - done) * sizeof(input));
			input.info.clock_group = group;
			input.info.clock_offset = first.clock_offset;
			inputs->list[done++] = input;
		}
	}
	for (size_t i = 0; i < inputs->n; i++)
		for (size_t k = 0; k < inputs->list[i].n_streams; k++)
			inputs->list[i].streams[k].rank = rank++;
}

int bsa_inputs_open(struct bsa_inputs *ret, const struct bsa_places *places, const bt_component_class_source *source,
                    const struct bsa_decode_options *options, struct bsa_err *err)
{
	struct bsa_inputs inputs = { 0 };
	int r = gather_traces(&inputs, places) ? 0 : inputs_no_memory(err);

	if (r == 0)
		r = open_all(&inputs, source, options, err);
	if (r == 0) {
		group_by_clock(&inputs);
		r = bsa_unseen_find(&inputs) ? 0 : inputs_no_memory(err);
	}
	if (r) {
		bsa_inputs_close(&inputs);
		return r;
	}
	*ret = inputs;
	return 0;
}
