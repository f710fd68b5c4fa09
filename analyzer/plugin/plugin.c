/*
 * plugin.c -- the importer as a babeltrace2 sink: sink.nnburst.sqlite.
 *
 *   babeltrace2 TRACE --component=sink.nnburst.sqlite --params='output="FILE.db",keep-operations=true'
 *
 * It has one port, so whatever is upstream has put messages into one order, which is that of the traces' own
 * idea of the time of day. Where that is not quite the order of their clock, a record is passed on as of the
 * time of the one before it.
 *
 * Messages do not have the numbers of packets, and filters upstream may leave out anything: so the sink
 * cannot know whether all was recorded, and each trace gets a loss for it.
 */
#include <babeltrace2/babeltrace.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "decode/inputs.h"
#include "decode/look.h"
#include "decode/tap.h"
#include "decode/ties.h"
#include "importer.h"

struct trace {
	const bt_trace *trace; /* a reference */
	struct bsa_input input;
	struct bsa_counts counts;
	uint32_t number; /* 0: it has no events of ours */
};

struct stream {
	const bt_stream *stream; /* a reference; NULL: it is over */
	struct trace *trace;
	struct bsa_tap tap;
	uint64_t rank;
};

struct sink {
	bt_message_iterator *iterator;
	struct bsa_importer *importer;
	struct bsa_plans plans;
	struct trace **traces;
	struct stream **streams;
	size_t n_traces, traces_room, n_streams, streams_room;
	struct stream *last;   /* records of the latest time, not passed on yet */
	struct bsa_ties *ties; /* records of the latest time, which were not passed on yet */
	uint64_t now;
	uint32_t numbers;
	struct bsa_err err;
};

static struct sink *sink_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

static int sink_no_memory(struct sink *sink)
{
	return bsa_fail(&sink->err, BSA_E_ENV, "there is no memory left");
}

/* ---- traces and streams ---- */

static int pass_trace(struct sink *sink, struct trace *trace)
{
	struct bsa_trace *info = &trace->input.info;
	char path[64];
	int r;

	/* the messages do not have its place on disk */
	snprintf(path, sizeof(path), "trace %s", info->uuid);
	info->path = strdup(path);
	if (!info->path)
		return sink_no_memory(sink);
	for (size_t i = 0; i < sink->n_traces; i++) {
		const struct bsa_trace *first = &sink->traces[i]->input.info;

		if (!sink->traces[i]->number)
			continue;
		info->clock_offset = first->clock_offset;
		/* All records are folded as they come, so they have to be of one clock. */
		if (!*info->clock_uuid || strcmp(first->clock_uuid, info->clock_uuid) != 0 ||
		    strcmp(first->host, info->host) != 0)
			return bsa_fail(&sink->err, BSA_E_INPUT,
			                "traces of several clocks: `burstscope import` puts them into one database");
		break;
	}
	r = bsa_importer_trace(sink->importer, info, &sink->err);
	if (r == 0)
		trace->number = ++sink->numbers;
	return r;
}

/* The trace of the stream, which is new if no other stream of it came before. */
static int find_trace(struct sink *sink, const bt_stream *stream, struct trace **ret)
{
	const bt_trace *of = bt_stream_borrow_trace_const(stream);
	struct trace *trace;
	int r;

	for (size_t i = 0; i < sink->n_traces; i++)
		if (sink->traces[i]->trace == of) {
			*ret = sink->traces[i];
			return 0;
		}

	if (!BSA_RESERVE(sink->traces, sink->traces_room, sink->n_traces + 1, 4) ||
	    !(trace = calloc(1, sizeof(*trace))))
		return sink_no_memory(sink);
	sink->traces[sink->n_traces++] = trace;
	atomic_init(&trace->counts.began, BSA_NEVER);
	atomic_init(&trace->counts.ended, BSA_NEVER);
	trace->trace = of;
	bt_trace_get_ref(of);
	r = bsa_look_at_stream(&trace->input, stream, &sink->err);
	if (r > 0)
		r = pass_trace(sink, trace);
	*ret = trace;
	return r;
}

static int add_stream(struct sink *sink, const bt_stream *stream)
{
	struct stream *added;
	int r;

	if (!BSA_RESERVE(sink->streams, sink->streams_room, sink->n_streams + 1, 16) ||
	    !(added = calloc(1, sizeof(*added))))
		return sink_no_memory(sink);
	sink->streams[sink->n_streams++] = added;
	added->stream = stream;
	bt_stream_get_ref(stream);
	r = find_trace(sink, stream, &added->trace);
	if (r < 0)
		return r;
	added->tap = (struct bsa_tap){ .counts = &added->trace->counts,
		                       .plans = &sink->plans,
		                       .trace = added->trace->number,
		                       .pid = added->trace->input.pid };
	bsa_tap_init(&added->tap);
	added->rank = sink->n_streams;
	sink->last = added;
	return 0;
}

/* ---- records ---- */

static int pass_ties(struct sink *sink)
{
	const struct bsa_event *event;
	int r = 0;

	while ((event = bsa_ties_next(sink->ties)))
		if (r == 0)
			r = bsa_importer_event(sink->importer, event, &sink->err);
	return r;
}

static int take_message(struct sink *sink, const bt_message *message)
{
	const bt_stream *stream = bsa_tap_stream(message);
	struct stream *found;
	uint64_t at, record[BSA_RECORD_MAX / 8];
	struct bsa_event *event = (struct bsa_event *)record;
	int r;

	if (!stream)
		return 0;
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_STREAM_BEGINNING) {
		r = add_stream(sink, stream);
		if (r < 0)
			return r;
	}
	found = sink->last && sink->last->stream == stream ? sink->last : NULL;
	for (size_t i = 0; !found && i < sink->n_streams; i++)
		if (sink->streams[i]->stream == stream)
			found = sink->last = sink->streams[i];
	if (!found || !found->trace->number)
		return 0;
	r = bsa_tap_look(&found->tap, message, &at);
	if (r <= 0)
		return r ? sink_no_memory(sink) : 0;

	r = 0;
	bsa_tap_write(&found->tap, message, event);
	if (event->at < sink->now)
		event->at = sink->now;
	if (event->at != sink->now || bsa_ties_count(sink->ties) == BSA_TIES_MAX)
		r = pass_ties(sink);
	sink->now = event->at;
	bsa_ties_add(sink->ties, found->rank, event);
	return r;
}

static int finish_import(struct sink *sink)
{
	uint64_t late;
	int r;

	if (!sink->numbers)
		return bsa_fail(&sink->err, BSA_E_INPUT,
		                "there are no nnburst events; lttng enable-event -u 'nnburst:*' records them");
	r = pass_ties(sink);
	for (size_t i = 0; r == 0 && i < sink->n_traces; i++) {
		const struct bsa_counts *c = &sink->traces[i]->counts;
		struct bsa_decoded decoded = { .events = c->events,
			                       .foreign = c->foreign,
			                       .unusable = c->unusable,
			                       .unknown_fields = sink->traces[i]->input.unknown_fields,
			                       .lost_events = c->lost_events,
			                       .lost_packets = c->lost_packets,
			                       .began = c->began,
			                       .ended = c->ended };

		if (sink->traces[i]->number)
			r = bsa_importer_decoded(sink->importer, sink->traces[i]->number, &decoded, &sink->err);
	}
	late = bsa_importer_wants_horizon(sink->importer);
	if (r == 0 && late)
		return bsa_fail(&sink->err, BSA_E_INPUT,
		                "executions are told of up to %" PRIu64 " ns late: give horizon-ns=%" PRIu64
		                ", or use `burstscope import`, which finds out by itself",
		                late, late);
	return r ? r : bsa_importer_finish(sink->importer, &sink->err);
}

/* ---- the component ---- */

static void sink_free(struct sink *sink)
{
	for (size_t i = 0; i < sink->n_streams; i++) {
		bt_stream_put_ref(sink->streams[i]->stream);
		free(sink->streams[i]);
	}
	for (size_t i = 0; i < sink->n_traces; i++) {
		bsa_input_fini(&sink->traces[i]->input);
		bt_trace_put_ref(sink->traces[i]->trace);
		free(sink->traces[i]);
	}
	bsa_plans_fini(&sink->plans);
	bsa_ties_free(sink->ties);
	bsa_importer_free(sink->importer);
	bt_message_iterator_put_ref(sink->iterator);
	free(sink->streams);
	free(sink->traces);
	free(sink);
}

static void append_cause(bt_self_component_sink *self, const struct bsa_err *err)
{
	bt_current_thread_error_append_cause_from_component(bt_self_component_sink_as_self_component(self), __FILE__,
	                                                    __LINE__, "%s", err->text);
}

static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct sink *sink = sink_of(self);
	bt_message_array_const messages;
	uint64_t n = 0;
	int r = 0;

	switch (bt_message_iterator_next(sink->iterator, &messages, &n)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		if (finish_import(sink) == 0)
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
		append_cause(self, &sink->err);
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	default:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (r == 0)
			r = take_message(sink, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	if (r == 0)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
	append_cause(self, &sink->err);
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}

/* ---- parameters ---- */

struct parameters {
	struct bsa_importer_options options;
	struct bsa_err err;
};

static int parameter_wrong(struct parameters *p, const char *key, const char *what)
{
	return bsa_fail(&p->err, BSA_E_USAGE, "parameter %s %s", key, what);
}

static bt_value_map_foreach_entry_const_func_status read_parameter(const char *key, const bt_value *value, void *data)
{
	struct parameters *p = data;
	int r = 0;

	if (!strcmp(key, "output")) {
		if (bt_value_is_string(value))
			p->options.output = bt_value_string_get(value);
		else
			r = parameter_wrong(p, key, "has to be a file name");
	} else if (!strcmp(key, "keep-operations")) {
		if (bt_value_is_bool(value))
			p->options.keep_operations = bt_value_bool_get(value);
		else
			r = parameter_wrong(p, key, "has to be true or false");
	} else if (!strcmp(key, "horizon-ns")) {
		if (bt_value_is_signed_integer(value) && bt_value_integer_signed_get(value) > 0)
			p->options.horizon_ns = (uint64_t)bt_value_integer_signed_get(value);
		else
			r = parameter_wrong(p, key, "has to be a number above 0");
	} else {
		r = parameter_wrong(p, key, "is not known: there are output, keep-operations and horizon-ns");
	}
	return r ? BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_INTERRUPT
	         : BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
}

static bt_component_class_initialize_method_status sink_initialize(bt_self_component_sink *self,
                                                                   bt_self_component_sink_configuration *configuration,
                                                                   const bt_value *params, void *data)
{
	struct sink *sink = calloc(1, sizeof(*sink));
	struct parameters p = { .err = { "" } };
	int r;

	(void)configuration;
	(void)data;
	if (!sink)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	if (params)
		(void)bt_value_map_foreach_entry_const(params, read_parameter, &p);
	if (!*p.err.text && !p.options.output)
		parameter_wrong(&p, "output", "is missing: the database to make");
	sink->err = p.err;
	sink->ties = bsa_ties_new();
	p.options.unchecked = true;
	r = *p.err.text  ? BSA_E_USAGE
	    : sink->ties ? bsa_importer_new(&sink->importer, &p.options, &sink->err)
	                 : sink_no_memory(sink);
	if (r < 0) {
		append_cause(self, &sink->err);
		sink_free(sink);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (bt_self_component_sink_add_input_port(self, "in", NULL, NULL) != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
		sink_free(sink);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), sink);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status sink_configured(bt_self_component_sink *self)
{
	struct sink *sink = sink_of(self);

	return bt_message_iterator_create_from_sink_component(
		       self, bt_self_component_sink_borrow_input_port_by_index(self, 0), &sink->iterator) ==
	                       BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK
	               ? BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK
	               : BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
}

static void sink_finalize(bt_self_component_sink *self)
{
	sink_free(sink_of(self));
}

/* clang-format off */
BT_PLUGIN_MODULE();
BT_PLUGIN(nnburst);
BT_PLUGIN_DESCRIPTION("What became of neural-network executions");
BT_PLUGIN_SINK_COMPONENT_CLASS(sqlite, sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(sqlite, sink_initialize);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(sqlite, sink_configured);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(sqlite, sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(sqlite, "Import nnburst events into a database.");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(sqlite,
	"Parameters: output=FILE, the database to make; keep-operations=BOOL, with each queue operation and slot lookup;\n"
	"horizon-ns=N, how late an execution may be told of where only summaries are recorded. See burstscope(1).");
/* clang-format on */
