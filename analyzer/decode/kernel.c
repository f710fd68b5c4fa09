/* kernel.c -- reads kernel traces through a graph of babeltrace2's source and muxer, and a simple sink. */
#include "kernel.h"

#include <babeltrace2/babeltrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctf.h"
#include "discover.h"
#include "failed.h"
#include "metadata.h"

struct reading {
	bt_message_iterator *iterator;
	const char *clock_uuid;
	bool (*each)(void *ctx, const struct bsa_kernel_event *event);
	void *ctx;
	bool other_clock, enough;
};

/* ---- where ---- */

char **bsa_kernel_find(const char *const *paths, size_t n_paths, size_t *ret_n)
{
	struct bsa_places places;
	struct bsa_err err;
	char **found = NULL;
	size_t n = 0;

	*ret_n = 0;
	if (bsa_discover(&places, paths, n_paths, &err) < 0)
		return NULL;
	found = calloc(places.n + 1, sizeof(*found));
	for (size_t i = 0; found && i < places.n; i++) {
		char *text = bsa_metadata_text(places.paths[i]);
		bool is_kernel = text && strstr(text, "name = \"sched_switch\"");

		free(text);
		if (!is_kernel)
			continue;
		found[n] = strdup(places.paths[i]);
		n += found[n] != NULL;
	}
	bsa_places_fini(&places);
	if (!n) {
		free(found);
		return NULL;
	}
	*ret_n = n;
	return found;
}

void bsa_kernel_free(char **directories, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(directories[i]);
	free(directories);
}

/* ---- one event ---- */

static const bt_field *member(const bt_field *fields, const char *name)
{
	return fields ? bt_field_structure_borrow_member_field_by_name_const(fields, name) : NULL;
}

static bool read_number(const bt_field *fields, const char *name, int64_t *ret)
{
	const bt_field *f = member(fields, name);
	bt_field_class_type type = f ? bt_field_get_class_type(f) : BT_FIELD_CLASS_TYPE_BOOL;

	if (f && bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		*ret = (int64_t)bt_field_integer_unsigned_get_value(f);
	else if (f && bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*ret = bt_field_integer_signed_get_value(f);
	else
		return false;
	return true;
}

static void read_name(const bt_field *fields, const char *name, char ret[BSA_KERNEL_NAME])
{
	const bt_field *f = member(fields, name);

	*ret = 0;
	if (f && bt_field_get_class_type(f) == BT_FIELD_CLASS_TYPE_STRING)
		snprintf(ret, BSA_KERNEL_NAME, "%s", bt_field_string_get_value(f));
}

/* Bits of the states in which a thread waits for something or has ended; without them it could have gone on. */
enum { WAITS = 0xff };

static bool fill_event(struct bsa_kernel_event *e, const char *name, const bt_field *fields)
{
	int64_t a = 0, b = 0, c = 0;

	if (!strcmp(name, "sched_switch")) {
		if (!read_number(fields, "prev_tid", &a) || !read_number(fields, "next_tid", &b) ||
		    !read_number(fields, "prev_state", &c))
			return false;
		e->kind = BSA_KERNEL_SWITCH;
		e->tid = (uint32_t)a;
		e->next = (uint32_t)b;
		e->runnable = !(c & WAITS);
		read_name(fields, "next_comm", e->name);
	} else if (!strcmp(name, "sched_waking")) {
		if (!read_number(fields, "tid", &a))
			return false;
		e->kind = BSA_KERNEL_WAKING;
		e->tid = (uint32_t)a;
	} else if (!strcmp(name, "irq_handler_entry")) {
		e->kind = BSA_KERNEL_IRQ_ENTRY;
		read_name(fields, "name", e->name);
	} else if (!strcmp(name, "irq_handler_exit")) {
		e->kind = BSA_KERNEL_IRQ_EXIT;
	} else if (!strcmp(name, "power_cpu_frequency")) {
		if (!read_number(fields, "state", &a) || a < 0)
			return false;
		e->kind = BSA_KERNEL_FREQUENCY;
		e->number = (uint64_t)a;
		if (read_number(fields, "cpu_id", &b) && b >= 0)
			e->cpu = (uint32_t)b;
	} else {
		return false;
	}
	return true;
}

/* Is the clock of these events the one that the trace must have? */
static bool is_clock(struct reading *r, const bt_stream *stream)
{
	const bt_clock_class *clock =
		bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream));
	bt_uuid bytes = clock ? bt_clock_class_get_uuid(clock) : NULL;
	char uuid[BSA_UUID_TEXT] = "";

	if (bytes)
		bsa_uuid_text(uuid, bytes);
	r->other_clock |= !clock || bt_clock_class_get_frequency(clock) != 1000000000 ||
	                  (*r->clock_uuid && strcmp(uuid, r->clock_uuid) != 0);
	return !r->other_clock;
}

static void take_loss(struct reading *r, const bt_clock_snapshot *from, const bt_clock_snapshot *to)
{
	const struct bsa_kernel_event e = { .kind = BSA_KERNEL_LOST,
		                            .began = bt_clock_snapshot_get_value(from),
		                            .at = bt_clock_snapshot_get_value(to) };

	r->enough = !r->each(r->ctx, &e);
}

/* A loss without a time may be of any time: the trace covers nothing after the records before it. */
static void take_message(struct reading *r, const bt_message *message)
{
	struct bsa_kernel_event e = { .kind = BSA_KERNEL_LOST };
	const bt_stream *stream;
	const bt_event *event;
	const bt_packet *packet;
	const char *name;
	int64_t cpu;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		event = bt_message_event_borrow_event_const(message);
		packet = bt_event_borrow_packet_const(event);
		name = bt_event_class_get_name(bt_event_borrow_class_const(event));
		if (!name || !is_clock(r, bt_event_borrow_stream_const(event)) || !packet ||
		    !read_number(bt_packet_borrow_context_field_const(packet), "cpu_id", &cpu) || cpu < 0)
			break;
		e.cpu = (uint32_t)cpu;
		if (!fill_event(&e, name, bt_event_borrow_payload_field_const(event)))
			break;
		e.at = bt_clock_snapshot_get_value(bt_message_event_borrow_default_clock_snapshot_const(message));
		r->enough = !r->each(r->ctx, &e);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		stream = bt_message_discarded_events_borrow_stream_const(message);
		if (!bt_stream_class_discarded_events_have_default_clock_snapshots(
			    bt_stream_borrow_class_const(stream)))
			r->enough = true;
		else if (is_clock(r, stream))
			take_loss(r, bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(message),
			          bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message));
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		stream = bt_message_discarded_packets_borrow_stream_const(message);
		if (!bt_stream_class_discarded_packets_have_default_clock_snapshots(
			    bt_stream_borrow_class_const(stream)))
			r->enough = true;
		else if (is_clock(r, stream))
			take_loss(r,
			          bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(message),
			          bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(message));
		break;
	default:
		break;
	}
}

/* ---- the graph ---- */

static bt_graph_simple_sink_component_initialize_func_status sink_begin(bt_message_iterator *iterator, void *data)
{
	struct reading *r = data;

	r->iterator = iterator;
	bt_message_iterator_get_ref(iterator);
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status sink_take(bt_message_iterator *iterator, void *data)
{
	struct reading *r = data;
	bt_message_array_const messages;
	uint64_t n = 0;
	bt_message_iterator_next_status status = bt_message_iterator_next(iterator, &messages, &n);

	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	for (uint64_t i = 0; i < n; i++) {
		if (!r->enough && !r->other_clock)
			take_message(r, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return r->enough || r->other_clock ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END
	                                   : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

struct parts {
	bt_graph *graph;
	const bt_component_class_source *source_class;
	const bt_plugin *utils;
	bt_value *params;
};

static void parts_fini(struct parts *p)
{
	bsa_bt_graph_put(p->graph);
	bt_component_class_source_put_ref(p->source_class);
	bt_plugin_put_ref(p->utils);
	bt_value_put_ref(p->params);
}

static bool build_graph(struct parts *p, struct reading *r, const char *directory)
{
	const bt_component_class_filter *muxer_class;
	const bt_component_source *source;
	const bt_component_filter *muxer;
	const bt_component_sink *sink;
	bt_value *inputs = NULL;
	uint64_t n;

	p->source_class = bsa_ctf_class("fs", NULL);
	if (bt_plugin_find("utils", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &p->utils) !=
	    BT_PLUGIN_FIND_STATUS_OK)
		return false;
	muxer_class = bt_plugin_borrow_filter_component_class_by_name_const(p->utils, "muxer");
	p->graph = bt_graph_create(0);
	p->params = bt_value_map_create();
	if (!p->source_class || !muxer_class || !p->graph || !p->params ||
	    bt_value_map_insert_empty_array_entry(p->params, "inputs", &inputs) !=
	            BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
	    bt_value_array_append_string_element(inputs, directory) != BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK ||
	    bt_graph_add_source_component(p->graph, p->source_class, "source", p->params, BT_LOGGING_LEVEL_NONE,
	                                  &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
	    bt_graph_add_filter_component(p->graph, muxer_class, "muxer", NULL, BT_LOGGING_LEVEL_NONE, &muxer) !=
	            BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
	    bt_graph_add_simple_sink_component(p->graph, "sink", sink_begin, sink_take, NULL, r, &sink) !=
	            BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		return false;

	n = bt_component_source_get_output_port_count(source);
	for (uint64_t i = 0; i < n; i++)
		if (bt_graph_connect_ports(p->graph, bt_component_source_borrow_output_port_by_index_const(source, i),
		                           bt_component_filter_borrow_input_port_by_index_const(muxer, i),
		                           NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			return false;
	return bt_graph_connect_ports(p->graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
	                              bt_component_sink_borrow_input_port_by_index_const(sink, 0),
	                              NULL) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
}

int bsa_kernel_read(const char *directory, const char *clock_uuid,
                    bool (*each)(void *ctx, const struct bsa_kernel_event *event), void *ctx, struct bsa_err *err)
{
	struct reading r = { .clock_uuid = clock_uuid, .each = each, .ctx = ctx };
	__attribute__((cleanup(parts_fini))) struct parts p = { .graph = NULL };
	int status;

	if (!build_graph(&p, &r, directory))
		return bsa_bt_failed(err, BSA_E_INPUT, "%s cannot be read", directory);
	do
		status = bt_graph_run_once(p.graph);
	while (status == BT_GRAPH_RUN_ONCE_STATUS_OK || status == BT_GRAPH_RUN_ONCE_STATUS_AGAIN);
	bt_message_iterator_put_ref(r.iterator);
	if (status != BT_GRAPH_RUN_ONCE_STATUS_END)
		return bsa_bt_failed(err, BSA_E_INPUT, "%s cannot be read to its end", directory);
	return !r.other_clock;
}
