/* look.c -- reads the properties of a trace with babeltrace2, from its metadata and first packets. */
#include "look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failed.h"
#include "metadata.h"
#include "plan.h"

enum { NS = 1000000000 };

/* A look at a trace, and how far it got. */
struct look {
	struct bsa_input *input;
	bt_message_iterator *iterator;
	bool seen; /* a stream has begun, so the trace's metadata is known */
	bool ours; /* true if one of its events is of this project */
	bool no_memory;
};

static const char *keep_text(struct look *look, const char *text)
{
	char *copy = strdup(text ? text : "");

	look->no_memory |= !copy;
	return copy;
}

static const char *environment_text(struct look *look, const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return keep_text(look, value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL);
}

static const char *uuid_text(struct look *look, bt_uuid uuid)
{
	char text[37] = "";

	if (uuid)
		bsa_uuid_text(text, uuid);
	return keep_text(look, text);
}

static void look_at_clock(struct look *look, const bt_clock_class *clock)
{
	struct bsa_trace *info = &look->input->info;
	int64_t seconds;
	uint64_t cycles;

	info->clock = keep_text(look, clock ? bt_clock_class_get_name(clock) : NULL);
	info->clock_uuid = uuid_text(look, clock ? bt_clock_class_get_uuid(clock) : NULL);
	if (!clock)
		return;
	look->input->frequency = bt_clock_class_get_frequency(clock);
	bt_clock_class_get_offset(clock, &seconds, &cycles);
	cycles = (uint64_t)((unsigned __int128)cycles * NS / bt_clock_class_get_frequency(clock));
	if (__builtin_mul_overflow(seconds, (int64_t)NS, &info->clock_offset) ||
	    __builtin_add_overflow(info->clock_offset, (int64_t)cycles, &info->clock_offset))
		info->clock_offset = 0;
}

static bool is_by_lttng(const bt_trace *trace)
{
	const bt_value *tracer = bt_trace_borrow_environment_entry_value_by_name_const(trace, "tracer_name");

	return tracer && bt_value_is_string(tracer) && !strcmp(bt_value_string_get(tracer), "lttng-ust");
}

static void look_at_stream(struct look *look, const bt_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_trace_class *class = bt_trace_borrow_class_const(trace);
	struct bsa_input *input = look->input;
	struct bsa_trace *info = &input->info;
	const bt_value *pid, *uid, *scheme;
	uint64_t declared = 0;
	int64_t value;
	char *text;

	look->seen = true;
	for (uint64_t i = 0; i < bt_trace_class_get_stream_class_count(class); i++) {
		const bt_stream_class *streams = bt_trace_class_borrow_stream_class_by_index_const(class, i);

		for (uint64_t k = 0; k < bt_stream_class_get_event_class_count(streams); k++) {
			struct bsa_plan plan;

			bsa_plan_make(&plan, bt_stream_class_borrow_event_class_by_index_const(streams, k));
			look->ours |= plan.kind != BSA_N_KINDS;
			input->unknown_fields += plan.unknown;
			info->compact |= plan.kind == BSA_exec_client || plan.kind == BSA_exec_service;
			declared |= plan.kind != BSA_N_KINDS ? UINT64_C(1) << plan.kind : 0;
		}
	}
	if (!look->ours)
		return;

	/*
	 * Make the recipe for quick.c. Where another program reads the trace and this is its plugin, the
	 * directory is unknown: no recipe.
	 */
	text = input->n_directories ? bsa_metadata_tsdl(input->directories[0]) : NULL;
	if (text)
		input->recipe = bsa_recipe_make(text, class);
	/* LTTng declares what was enabled, and a copy by babeltrace2 only what it has an event of */
	if (text && !strstr(text, "Babeltrace") && is_by_lttng(trace))
		info->declared = declared;
	free(text);

	look_at_clock(look, bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream)));
	pid = bt_trace_borrow_environment_entry_value_by_name_const(trace, "vpid");
	value = pid && bt_value_is_signed_integer(pid) ? bt_value_integer_signed_get(pid) : 0;
	input->pid = value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;

	/* LTTng writes the uid, from the kernel's credentials. Per-process buffers have no uid. */
	scheme = bt_trace_borrow_environment_entry_value_by_name_const(trace, "tracer_buffering_scheme");
	uid = bt_trace_borrow_environment_entry_value_by_name_const(trace, "tracer_buffering_id");
	value = uid && bt_value_is_signed_integer(uid) ? bt_value_integer_signed_get(uid) : -1;
	info->uid = UINT32_MAX;
	if (scheme && bt_value_is_string(scheme) && !strcmp(bt_value_string_get(scheme), "uid") && value >= 0 &&
	    value < UINT32_MAX)
		info->uid = (uint32_t)value;

	info->uuid = uuid_text(look, bt_trace_get_uuid(trace));
	info->host = environment_text(look, trace, "hostname");
	info->session = environment_text(look, trace,
	                                 bt_trace_borrow_environment_entry_value_by_name_const(trace, "trace_name")
	                                         ? "trace_name"
	                                         : "session_name");
}

static bt_graph_simple_sink_component_initialize_func_status look_begins(bt_message_iterator *iterator, void *data)
{
	((struct look *)data)->iterator = iterator;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

/* The first message of a stream identifies its trace and number; the rest is not read here. */
static bt_graph_simple_sink_component_consume_func_status look_on(bt_message_iterator *iterator, void *data)
{
	struct look *look = data;
	bt_message_array_const messages;
	uint64_t n;

	if (bt_message_iterator_next(iterator, &messages, &n) != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	for (uint64_t i = 0; i < n; i++) {
		if (!look->seen && bt_message_get_type(messages[i]) == BT_MESSAGE_TYPE_STREAM_BEGINNING)
			look_at_stream(look, bt_message_stream_beginning_borrow_stream_const(messages[i]));
		bt_message_put_ref(messages[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
}

static int by_port(const void *a, const void *b)
{
	return strverscmp(((const struct bsa_input_stream *)a)->port, ((const struct bsa_input_stream *)b)->port);
}

/* List the streams by name, because the source lists them in the arbitrary order of the directory. */
static bool list_streams(struct bsa_input *input, const bt_component_source *component)
{
	uint64_t n = bt_component_source_get_output_port_count(component);

	input->streams = calloc(n + 1, sizeof(*input->streams));
	if (!input->streams)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		const bt_port_output *port = bt_component_source_borrow_output_port_by_index_const(component, i);
		const char *name = bt_port_get_name(bt_port_output_as_port_const(port));
		size_t k = 0;

		while (k < input->n_streams && strcmp(input->streams[k].port, name) != 0)
			k++;
		if (k < input->n_streams)
			continue;
		input->streams[input->n_streams].port = strdup(name);
		if (!input->streams[input->n_streams].port)
			return false;
		input->n_streams++;
	}
	qsort(input->streams, input->n_streams, sizeof(*input->streams), by_port);
	return true;
}

/*
 * Look at the trace by its stream @i. This takes a graph of its own, because a graph in which a stream failed
 * cannot be used again.
 */
static int look_by(struct look *look, const bt_component_class_source *source, size_t i, struct bsa_err *err)
{
	struct bsa_input *input = look->input;
	const bt_component_source *component;
	const bt_component_sink *sink = NULL;
	bt_graph *graph;
	int r = 0;

	errno = 0;
	graph = bt_graph_create(0);
	component = graph ? bsa_input_add(input, graph, source) : NULL;
	if (!component)
		r = bsa_bt_unreadable(err, !graph || bsa_bt_no_means(errno), input->info.path);
	else if (!input->streams && !list_streams(input, component))
		r = bsa_fail(err, BSA_E_ENV, "there is no memory left to open traces");
	else if (i < input->n_streams &&
	         (bt_graph_add_simple_sink_component(graph, "look", look_begins, look_on, NULL, look, &sink) !=
	                  BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
	          bt_graph_connect_ports(graph, bt_component_source_borrow_output_port_by_index_const(component, i),
	                                 bt_component_sink_borrow_input_port_by_index_const(sink, 0),
	                                 NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK ||
	          bt_graph_run_once(graph) != BT_GRAPH_RUN_ONCE_STATUS_END || !look->seen))
		r = bsa_bt_unreadable(err, bsa_bt_no_means(errno), input->info.path);
	bsa_bt_graph_put(graph);
	return r;
}

int bsa_look(struct bsa_input *input, const bt_component_class_source *source, struct bsa_err *err)
{
	struct look look = { .input = input };
	struct bsa_trace *info = &input->info;
	char *text = NULL;
	size_t i = 0;
	int r;

	do
		r = look_by(&look, source, i++, err);
	while (input->streams && !look.seen && i < input->n_streams);

	/* Where the trace has no stream with events, only the text of its metadata shows whether it is ours. */
	if (r == 0 && !look.seen) {
		text = bsa_metadata_text(input->directories[0]);
		if (!text)
			return bsa_fail(err, BSA_E_INPUT, "%s: its metadata cannot be read", info->path);
		look.ours = strstr(text, "\"nnburst:");
		info->uid = UINT32_MAX; /* without a stream there are no events */
	}
	if (text && look.ours) {
		info->uuid = bsa_metadata_value(text, "uuid");
		info->host = bsa_metadata_value(text, "hostname");
		info->session = bsa_metadata_value(text, "trace_name");
		info->clock = keep_text(&look, NULL);
		info->clock_uuid = keep_text(&look, NULL);
		look.no_memory |= !info->uuid || !info->host || !info->session;
	}
	free(text);
	if (r == 0 && look.no_memory)
		r = bsa_fail(err, BSA_E_ENV, "there is no memory left to open traces");
	return r ? r : look.ours;
}

int bsa_look_at_stream(struct bsa_input *input, const bt_stream *stream, struct bsa_err *err)
{
	struct look look = { .input = input };

	look_at_stream(&look, stream);
	if (look.no_memory)
		return bsa_fail(err, BSA_E_ENV, "there is no memory left to look at traces");
	return look.ours;
}
