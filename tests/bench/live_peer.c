/*
 * live_peer.c URL SECONDS -- who bench_live holds burstscope against: libbabeltrace2's lttng-live alone, asked again
 * each millisecond where it has nothing, as `babeltrace2 --retry-duration=1000` does. Prints how long after its time
 * the last event of an execution was there.
 */
#include <babeltrace2/babeltrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"

enum { RETRY_NS = 1000000, LAGS_MAX = 1 << 23, NS = 1000000000 };

struct peer {
	bt_message_iterator *iterator;
	double *lags; /* ms */
	size_t n;
};

static void take(struct peer *p, const bt_message *message)
{
	const bt_event_class *class;
	uint64_t at, now = now_ns();

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT || p->n == LAGS_MAX)
		return;
	class = bt_event_borrow_class_const(bt_message_event_borrow_event_const(message));
	if (strcmp(bt_event_class_get_name(class), "nnburst:exec_client") != 0)
		return;
	at = bt_clock_snapshot_get_value(bt_message_event_borrow_default_clock_snapshot_const(message));
	if (now > at)
		p->lags[p->n++] = (double)(now - at) / 1e6;
}

static bt_graph_simple_sink_component_initialize_func_status sink_begins(bt_message_iterator *iterator, void *data)
{
	((struct peer *)data)->iterator = iterator;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status sink_consumes(bt_message_iterator *iterator, void *data)
{
	bt_message_array_const messages;
	uint64_t n = 0;

	switch (bt_message_iterator_next(iterator, &messages, &n)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	default:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	}
	for (uint64_t i = 0; i < n; i++) {
		take(data, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

static bt_graph *graph_of(struct peer *p, const char *url)
{
	const bt_plugin *plugin = NULL;
	const bt_component_source *source = NULL;
	const bt_component_sink *sink = NULL;
	bt_graph *graph = bt_graph_create(0);
	bt_value *params = bt_value_map_create(), *inputs = NULL;

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) != BT_PLUGIN_FIND_STATUS_OK ||
	    bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) != BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
	    bt_value_array_append_string_element(inputs, url) != BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK ||
	    bt_graph_add_source_component(
		    graph, bt_plugin_borrow_source_component_class_by_name_const(plugin, "lttng-live"), "relay", params,
		    BT_LOGGING_LEVEL_NONE, &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
	    bt_graph_add_simple_sink_component(graph, "lags", sink_begins, sink_consumes, NULL, p, &sink) !=
	            BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
	    bt_graph_connect_ports(graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
	                           bt_component_sink_borrow_input_port_by_index_const(sink, 0),
	                           NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK) {
		fprintf(stderr, "live_peer: %s cannot be read\n", url);
		exit(1);
	}
	bt_value_put_ref(params);
	return graph; /* the plugin stays */
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct peer p = { .lags = calloc(LAGS_MAX, sizeof(double)) };
	uint64_t until = now_ns() + (argc > 2 ? strtoull(argv[2], NULL, 10) * NS : 0);
	bt_graph *graph = argc > 2 && p.lags ? graph_of(&p, argv[1]) : NULL;

	while (graph && now_ns() < until) {
		bt_graph_run_once_status status = bt_graph_run_once(graph);

		if (status == BT_GRAPH_RUN_ONCE_STATUS_AGAIN)
			nanosleep(&(struct timespec){ .tv_nsec = RETRY_NS }, NULL);
		else if (status != BT_GRAPH_RUN_ONCE_STATUS_OK)
			break;
	}
	if (!p.n) {
		fprintf(stderr, "live_peer: nothing was read\n");
		return 1;
	}
	qsort(p.lags, p.n, sizeof(double), by_value);
	printf("%zu %.4f %.4f\n", p.n, p.lags[p.n / 2], p.lags[p.n * 99 / 100]);
	bt_graph_put_ref(graph);
	free(p.lags);
	return 0;
}
