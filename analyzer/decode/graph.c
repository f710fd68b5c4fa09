/*
 * graph.c -- builds a graph of babeltrace2's sources and a sink of our own, which merges without
 * babeltrace2's muxer.
 */
#include "graph.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failed.h"
#include "merge.h"
#include "tap.h"

struct port {
	struct bsa_tap tap;
	bt_message_iterator *iterator;
	bt_message_array_const messages; /* messages before @at are released */
	uint64_t n, at;
	uint64_t rank;
	bool cut; /* there should be more of it */
	/* errno after the call before: where a batch ends in a failure, the call after it reports that failure */
	int left;
};

struct bsa_graph {
	bt_graph *graph;
	bt_component_class_sink *class;
	const bt_component_sink *sink;
	struct bsa_plans plans;
	struct port *ports;
	size_t n_ports;
	struct bsa_merge merge;
	struct bsa_batch *batch; /* being filled */
	bool begun, no_memory;
};

/* ---- the sink ---- */

/* To the next message that yields a record, or to the cut: 1; 0: no more messages; -1: no memory. */
static int port_advance(struct port *port, uint64_t *ret_at)
{
	bt_message_iterator_next_status status;
	int number;

	while (port->iterator) {
		for (; port->at < port->n; port->at++) {
			int r = bsa_tap_look(&port->tap, port->messages[port->at], ret_at);

			if (__builtin_expect(r == 0, 0)) {
				bt_message_put_ref(port->messages[port->at]);
				continue;
			}
			/* The packet after a loss identifies the loss's cpu. */
			if (!port->tap.plan && port->tap.cpu == UINT32_MAX && port->at + 1 < port->n &&
			    bt_message_get_type(port->messages[port->at + 1]) == BT_MESSAGE_TYPE_PACKET_BEGINNING)
				bsa_tap_packet(&port->tap, port->messages[port->at + 1]);
			return r;
		}

		port->n = port->at = 0;
		errno = 0;
		status = bt_message_iterator_next(port->iterator, &port->messages, &port->n);
		number = errno;
		if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
			port->left = number;
			continue;
		}
		if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR ||
		    (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR &&
		     (bsa_bt_no_means(number) || bsa_bt_no_means(port->left))))
			return -1;

		/* The stream has ended, or is cut: a stream that ends within an event. */
		if (bsa_bt_forget()) {
			atomic_store_explicit(&port->tap.counts->cut, true, memory_order_relaxed);
			port->cut = true;
		}
		bt_message_iterator_put_ref(port->iterator);
		port->iterator = NULL;
		port->n = 0;
		bsa_tap_end(&port->tap);
		return port->cut && bsa_tap_cut(&port->tap, ret_at);
	}
	return 0;
}

static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct bsa_graph *g = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
	struct bsa_queued *queued;
	uint64_t at;
	int r;

	g->no_memory = false;
	for (size_t i = 0; !g->begun && !g->no_memory && i < g->n_ports; i++) {
		r = port_advance(&g->ports[i], &at);
		if (r > 0)
			bsa_merge_add(&g->merge, (struct bsa_head){ .at = at, .rank = g->ports[i].rank, .who = i });
		g->no_memory = r < 0;
	}
	g->begun = !g->no_memory;

	/* Append the earliest record of all streams to the batch. */
	while (!g->no_memory && g->merge.n && (queued = bsa_batch_room(g->batch))) {
		struct port *port = &g->ports[g->merge.heap[0].who];
		const bt_message *message = port->at < port->n ? port->messages[port->at] : NULL;

		queued->rank = port->rank;
		bsa_tap_write(&port->tap, message, &queued->event);
		bsa_batch_add(g->batch, queued);
		if (message)
			bt_message_put_ref(port->messages[port->at++]);
		r = port_advance(port, &at);
		if (r > 0)
			bsa_merge_move(&g->merge, at, port->rank);
		else
			bsa_merge_drop(&g->merge);
		g->no_memory = r < 0;
	}
	if (g->no_memory)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
	return g->merge.n ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
	                  : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
}

static bt_component_class_initialize_method_status sink_initialize(bt_self_component_sink *self,
                                                                   bt_self_component_sink_configuration *configuration,
                                                                   const bt_value *params, void *data)
{
	struct bsa_graph *g = data;

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), g);
	for (size_t i = 0; i < g->n_ports; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%zu", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status sink_configured(bt_self_component_sink *self)
{
	struct bsa_graph *g = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	errno = 0;
	for (size_t i = 0; i < g->n_ports; i++) {
		bt_message_iterator_create_from_sink_component_status status =
			bt_message_iterator_create_from_sink_component(
				self, bt_self_component_sink_borrow_input_port_by_index(self, i),
				&g->ports[i].iterator);

		if (status == BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			continue;
		g->no_memory = status == BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_MEMORY_ERROR ||
		               bsa_bt_no_means(errno);
		return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* ---- the graph ---- */

static size_t count_ports(const struct bsa_inputs *inputs, size_t first, size_t end, unsigned reader)
{
	size_t n = 0;

	for (size_t i = first; i < end; i++)
		for (size_t k = 0; k < inputs->list[i].n_streams; k++)
			n += inputs->list[i].streams[k].reader == reader;
	return n;
}

static bool connect_input(struct bsa_graph *g, const struct bsa_input *input, uint32_t trace, unsigned reader,
                          const bt_component_class_source *source, struct bsa_counts *counts, size_t *n)
{
	const bt_component_source *component = bsa_input_add(input, g->graph, source);
	uint64_t n_ports = component ? bt_component_source_get_output_port_count(component) : 0;

	for (uint64_t i = 0; i < n_ports; i++) {
		const bt_port_output *port = bt_component_source_borrow_output_port_by_index_const(component, i);
		const char *name = bt_port_get_name(bt_port_output_as_port_const(port));
		const struct bsa_input_stream *stream = input->streams, *end = stream + input->n_streams;

		while (stream < end && (stream->reader != reader || strcmp(stream->port, name) != 0))
			stream++;
		if (stream == end)
			continue;
		assert(*n < g->n_ports);
		g->ports[*n].rank = stream->rank;
		g->ports[*n].cut = stream->cut;
		g->ports[*n].tap = (struct bsa_tap){ .counts = counts,
			                             .plans = &g->plans,
			                             .trace = trace,
			                             .pid = input->pid,
			                             .ended = input->ended,
			                             .spans = stream->spans,
			                             .n_spans = stream->n_spans,
			                             .bytes = stream->bytes,
			                             .packets = stream->packets };
		bsa_tap_init(&g->ports[*n].tap);
		if (bt_graph_connect_ports(g->graph, port,
		                           bt_component_sink_borrow_input_port_by_index_const(g->sink, (*n)++),
		                           NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			return false;
	}
	return component;
}

int bsa_graph_new(struct bsa_graph **ret, const struct bsa_inputs *inputs, size_t first, size_t end, unsigned reader,
                  const bt_component_class_source *source, struct bsa_counts *counts, struct bsa_err *err)
{
	struct bsa_graph *g = calloc(1, sizeof(*g));
	size_t n = 0;

	if (!g)
		return bsa_fail(err, BSA_E_ENV, "there is no memory left to read traces");
	g->n_ports = count_ports(inputs, first, end, reader);
	g->ports = calloc(g->n_ports + 1, sizeof(*g->ports));
	g->merge.heap = calloc(g->n_ports + 1, sizeof(*g->merge.heap));
	g->graph = bt_graph_create(0);
	g->class = g->graph ? bt_component_class_sink_create("records", sink_consume) : NULL;
	if (!g->ports || !g->merge.heap || !g->graph || !g->class ||
	    bt_component_class_sink_set_initialize_method(g->class, sink_initialize) !=
	            BT_COMPONENT_CLASS_SET_METHOD_STATUS_OK ||
	    bt_component_class_sink_set_graph_is_configured_method(g->class, sink_configured) !=
	            BT_COMPONENT_CLASS_SET_METHOD_STATUS_OK ||
	    bt_graph_add_sink_component_with_initialize_method_data(g->graph, g->class, "records", NULL, g,
	                                                            BT_LOGGING_LEVEL_NONE,
	                                                            &g->sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK) {
		bsa_graph_free(g);
		bsa_bt_forget();
		return bsa_fail(err, BSA_E_ENV, "there is no memory left to read traces");
	}
	for (size_t i = first; i < end; i++) {
		const struct bsa_input *input = &inputs->list[i];

		if (!count_ports(inputs, i, i + 1, reader))
			continue;
		errno = 0;
		if (!connect_input(g, input, (uint32_t)i + 1, reader, source, &counts[i], &n)) {
			bool no_means = bsa_bt_no_means(errno) || g->no_memory;

			bsa_graph_free(g);
			return bsa_bt_unreadable(err, no_means, input->info.path);
		}
	}
	if (n < g->n_ports) { /* the directory changed while it was read */
		bsa_graph_free(g);
		return bsa_fail(err, BSA_E_INPUT, "%s has lost streams while it was read",
		                inputs->list[first].info.path);
	}
	*ret = g;
	return 0;
}

struct bsa_graph *bsa_graph_free(struct bsa_graph *g)
{
	if (!g)
		return NULL;
	for (size_t i = 0; g->ports && i < g->n_ports; i++) {
		struct port *port = &g->ports[i];

		for (; port->at < port->n; port->at++)
			bt_message_put_ref(port->messages[port->at]);
		bt_message_iterator_put_ref(g->ports[i].iterator);
	}
	bsa_bt_graph_put(g->graph);
	bt_component_class_sink_put_ref(g->class);
	bsa_plans_fini(&g->plans);
	free(g->merge.heap);
	free(g->ports);
	free(g);
	return NULL;
}

int bsa_graph_fill(struct bsa_graph *g, struct bsa_batch *batch, struct bsa_err *err)
{
	g->batch = batch;
	if (!g->n_ports)
		return 0;
	switch (bt_graph_run_once(g->graph)) {
	case BT_GRAPH_RUN_ONCE_STATUS_OK:
	case BT_GRAPH_RUN_ONCE_STATUS_AGAIN:
		return 1;
	case BT_GRAPH_RUN_ONCE_STATUS_END:
		return 0;
	default:
		if (g->no_memory) {
			bsa_bt_forget();
			return bsa_fail(err, BSA_E_ENV, "there is no memory left to read traces");
		}
		return bsa_bt_failed(err, BSA_E_INPUT, "a trace cannot be read");
	}
}
