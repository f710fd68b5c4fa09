/*
 * remote.c -- reads a session of a relay daemon in a thread of its own.
 *
 * CONCURRENCY  The reading thread makes records of messages, and hands them over in batches (ring.h). The
 *              traces, the session's name and the error are written by the reading thread under the lock. That
 *              thread is the only writer, and reads them without the lock; the caller takes it. The state, and the
 *              time until which all has been handed over, are atomic; the thread writes each after the batches
 *              that it stands for, and the caller reads each before them.
 * END          bsa_remote_free closes the ring. The thread may wait for the relay then, which can take long:
 *              so thread and caller each hold a reference, and the last one to give its reference back frees
 *              everything.
 */
#include "remote.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vector.h"
#include "ctf.h"
#include "failed.h"
#include "look.h"
#include "ordered.h"
#include "relay.h"
#include "ring.h"
#include "tap.h"

enum {
	NS = 1000000000,
	AGAIN_NS = 5000000,    /* between two questions for what is new */
	SEARCH_NS = 1000000000 /* between two tries to find a relay that has gone */
};

struct trace {
	const bt_trace *trace; /* a reference: its event classes must outlive the plans */
	struct bsa_input input;
	struct bsa_counts counts;
	uint32_t number; /* its number in records; 0: it has no events of ours */
};

struct stream {
	const bt_stream *stream; /* a reference */
	struct trace *trace;
	struct bsa_tap tap;
	uint64_t rank;
	uint64_t began;    /* begin of the current packet */
	bool open, filled; /* inside a packet; the packet has had an event */
};

/* The state of the reading thread, which no other thread uses. */
struct reading {
	const bt_component_class_source *source; /* a reference */
	bt_graph *graph;
	bt_message_iterator *iterator;
	struct bsa_plans plans;
	struct stream **streams;
	size_t n_streams, streams_room;
	struct stream *last; /* the stream of the last message */
	struct bsa_batch *batch;
	uint64_t now;        /* time of the last message */
	uint64_t covered;    /* no time before this is without a packet */
	size_t open;         /* packets with events that have not ended */
	uint32_t covered_by; /* number of the trace whose packet ended at @covered; 0: there was none yet */
	/* the longest time by which a packet had begun before its stream was attached to; 0: no packet had */
	uint64_t late_by;
	bool broken; /* the stream of messages broke off, and no packet has come since */
	bool no_memory;
};

enum host { HOST_THIS, HOST_OTHER };

struct bsa_remote {
	pthread_mutex_t lock;
	pthread_cond_t stopping;
	bool stop;
	unsigned references;
	char *url;
	struct bsa_relay_session session;
	struct trace **list;
	size_t n_traces, traces_room;
	struct bsa_err err;
	/* the rest is not under the lock */
	struct bsa_ring ring;
	_Atomic int state;
	_Atomic uint64_t until;
	_Atomic size_t n_streams, n_published;
	atomic_bool missed;
	enum host host; /* written before the first trace is published, and not again */
	struct reading reading;
	/* the caller's */
	const struct bsa_batch *batch;
	size_t at;
	struct bsa_ordered ordered; /* the queue is its only sequence */
	struct bsa_head head;
	uint64_t record[BSA_RECORD_MAX / 8];
};

static int remote_no_memory(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "there is no memory left to follow a session");
}

/* ---- batches: the reading thread ---- */

static void hand_over(struct bsa_remote *r)
{
	struct reading *g = &r->reading;

	if (g->batch && g->batch->bytes) {
		bsa_ring_push(&r->ring);
		g->batch = NULL;
	}
	if (g->now > atomic_load_explicit(&r->until, memory_order_relaxed))
		atomic_store_explicit(&r->until, g->now, memory_order_release);
}

/* Room for a record. NULL: the caller wants no more. */
static struct bsa_queued *queue_room(struct bsa_remote *r)
{
	struct reading *g = &r->reading;

	if (g->batch && !bsa_batch_room(g->batch))
		hand_over(r);
	if (!g->batch)
		g->batch = bsa_ring_room(&r->ring);
	return g->batch ? bsa_batch_room(g->batch) : NULL;
}

static void push_loss(struct bsa_remote *r, uint32_t trace, uint64_t began, const struct bsa_loss *loss)
{
	struct bsa_queued *q = queue_room(r);

	if (!q)
		return;
	q->rank = 0; /* of no stream */
	q->event = (struct bsa_event){
		.at = began, .trace = trace, .kind = BSA_loss, .size = sizeof(q->event) + sizeof(*loss)
	};
	memcpy(&q->event + 1, loss, sizeof(*loss));
	bsa_batch_add(r->reading.batch, q);
}

/* ---- traces and streams ---- */

/* The host that the trace is recorded on. */
static enum host host_of(const struct trace *t)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char id[64] = "";

	/* LTTng's clock has the number of the boot as its uuid. */
	if (f && !fgets(id, sizeof(id), f))
		*id = 0;
	if (f)
		fclose(f);
	id[strcspn(id, "\n")] = 0;
	return *id && !strcmp(id, t->input.info.clock_uuid) ? HOST_THIS : HOST_OTHER;
}

static bool publish_trace(struct bsa_remote *r, struct trace *t)
{
	bool fits;

	if (!r->n_traces)
		r->host = host_of(t);
	pthread_mutex_lock(&r->lock);
	fits = BSA_RESERVE(r->list, r->traces_room, r->n_traces + 1, 4);
	if (fits) {
		r->list[r->n_traces++] = t;
		t->number = (uint32_t)r->n_traces;
		atomic_store_explicit(&r->n_published, r->n_traces, memory_order_release);
	}
	pthread_mutex_unlock(&r->lock);
	return fits;
}

static void trace_free(struct trace *t)
{
	if (!t)
		return;
	bsa_input_fini(&t->input);
	bt_trace_put_ref(t->trace);
	free(t);
}

/* The trace of the stream. Of a trace without events of ours each stream has its own one, which nothing refers to. */
static struct trace *trace_of(struct bsa_remote *r, const bt_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	struct trace *t;
	int is;

	for (size_t i = 0; i < r->n_traces; i++)
		if (r->list[i]->trace == trace)
			return r->list[i];
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	bsa_counts_init(&t->counts);
	t->trace = bt_stream_borrow_trace_const(stream);
	bt_trace_get_ref(t->trace);
	is = bsa_look_at_stream(&t->input, stream, NULL);
	if (is > 0) {
		const bt_value *name = bt_trace_borrow_environment_entry_value_by_name_const(t->trace, "procname");
		const char *process = name && bt_value_is_string(name) ? bt_value_string_get(name) : "";
		char *path = NULL;
		int n = t->input.info.uid == UINT32_MAX
		                ? asprintf(&path, "%s/ust/pid/%s-%u", r->session.url, process, t->input.pid)
		                : asprintf(&path, "%s/ust/uid/%u", r->session.url, t->input.info.uid);

		t->input.info.path = n < 0 ? NULL : path;
	}
	if (is < 0 || (is > 0 && (!t->input.info.path || !publish_trace(r, t)))) {
		trace_free(t);
		return NULL;
	}
	return t;
}

/* The stream, which is new if none of its messages came before. NULL: no memory. */
static struct stream *find_stream(struct bsa_remote *r, const bt_stream *stream)
{
	struct reading *g = &r->reading;
	struct stream *s;

	if (g->last && g->last->stream == stream)
		return g->last;
	for (size_t i = 0; i < g->n_streams; i++)
		if (g->streams[i]->stream == stream)
			return g->last = g->streams[i];

	s = BSA_RESERVE(g->streams, g->streams_room, g->n_streams + 1, 16) ? calloc(1, sizeof(*s)) : NULL;
	if (!s || !(s->trace = trace_of(r, stream))) {
		free(s);
		g->no_memory = true;
		return g->last = NULL;
	}
	s->stream = stream;
	bt_stream_get_ref(stream);
	s->rank = (uint64_t)(s->trace->number + 1) << 40 |
	          (bt_stream_class_get_id(bt_stream_borrow_class_const(stream)) & 0xff) << 32 |
	          (bt_stream_get_id(stream) & 0xffffffff);
	s->tap = (struct bsa_tap){
		.counts = &s->trace->counts, .plans = &g->plans, .trace = s->trace->number, .pid = s->trace->input.pid
	};
	bsa_tap_init(&s->tap);
	g->streams[g->n_streams++] = s;
	atomic_store(&r->n_streams, g->n_streams);
	return g->last = s;
}

/* ---- times that no packet covers ---- */

static uint64_t snapshot_ns_of(const bt_clock_snapshot *snapshot)
{
	const bt_clock_class *clock = bt_clock_snapshot_borrow_clock_class_const(snapshot);
	unsigned __int128 ns = (unsigned __int128)bt_clock_snapshot_get_value(snapshot) * NS;

	ns /= bt_clock_class_get_frequency(clock);
	return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

/* The first event of a packet: from its begin on, the time is covered. */
static void cover_begin(struct bsa_remote *r, struct stream *s)
{
	struct reading *g = &r->reading;

	/* The first packets may hold less than there was: events of other streams before the reading began. */
	if (g->late_by)
		push_loss(r, s->trace->number, s->began,
		          &(struct bsa_loss){ .ended = s->began + g->late_by,
		                              .events = BSA_NEVER,
		                              .packets = BSA_NEVER,
		                              .cpu = UINT32_MAX,
		                              .pid = s->trace->input.pid,
		                              .cause = BSA_LOSS_HEAD });
	g->late_by = 0;
	if (!g->open && g->covered_by && s->began > g->covered)
		push_loss(r, g->covered_by, g->covered,
		          &(struct bsa_loss){ .ended = s->began,
		                              .events = BSA_NEVER,
		                              .packets = BSA_NEVER,
		                              .cpu = UINT32_MAX,
		                              .pid = r->list[g->covered_by - 1]->input.pid,
		                              .cause = g->broken ? BSA_LOSS_CUT : BSA_LOSS_GAP });
	g->broken = false;
	s->filled = true;
	g->open++;
}

static void cover_end(struct reading *g, struct stream *s, uint64_t at)
{
	if (s->filled) {
		assert(g->open);
		g->open--;
		if (at >= g->covered) {
			g->covered = at;
			g->covered_by = s->trace->number;
		}
	}
	s->open = s->filled = false;
}

/* ---- messages ---- */

static void take_message(struct bsa_remote *r, const bt_message *message)
{
	const bt_stream *stream = bsa_tap_stream(message);
	struct stream *s;
	uint64_t at;
	int is;
	struct reading *g;

	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY)
		r->reading.now =
			snapshot_ns_of(bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(message));
	s = stream ? find_stream(r, stream) : NULL;

	/* LTTng's streams have a clock; a source without a clock is not LTTng's. */
	if (!s || !s->trace->number ||
	    !bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(s->stream)))
		return;
	is = bsa_tap_look(&s->tap, message, &at);
	r->reading.no_memory |= is < 0;
	g = &r->reading;
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_PACKET_BEGINNING && s->tap.packets_timed) {
		g->now = s->began =
			snapshot_ns_of(bt_message_packet_beginning_borrow_default_clock_snapshot_const(message));
		s->open = true;
	}
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_PACKET_END && s->open) {
		g->now = snapshot_ns_of(bt_message_packet_end_borrow_default_clock_snapshot_const(message));
		cover_end(g, s, g->now);
	}
	if (is > 0) {
		struct bsa_queued *q;

		if (s->open && !s->filled && bt_message_get_type(message) == BT_MESSAGE_TYPE_EVENT)
			cover_begin(r, s);
		q = queue_room(r);
		if (!q)
			return;
		q->rank = s->rank;
		bsa_tap_write(&s->tap, message, &q->event);
		bsa_batch_add(g->batch, q);
		r->reading.now = at;
	}
}

static bt_graph_simple_sink_component_initialize_func_status sink_begins(bt_message_iterator *iterator, void *data)
{
	((struct bsa_remote *)data)->reading.iterator = iterator;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status sink_consumes(bt_message_iterator *iterator, void *data)
{
	struct bsa_remote *r = data;
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
		if (!r->reading.no_memory)
			take_message(r, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return r->reading.no_memory ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_MEMORY_ERROR
	                            : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* ---- the graph ---- */

static bool graph_make(struct bsa_remote *r)
{
	struct reading *g = &r->reading;
	bt_value *params = bt_value_map_create(), *inputs = NULL;
	const bt_component_source *source = NULL;
	const bt_component_sink *sink = NULL;
	bool made;

	g->graph = bt_graph_create(0);
	made = params && g->graph &&
	       bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) ==
	               BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK &&
	       bt_value_array_append_string_element(inputs, r->session.url) ==
	               BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK &&
	       bt_value_map_insert_string_entry(params, "session-not-found-action", "end") ==
	               BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK &&
	       bt_graph_add_source_component(g->graph, g->source, "relay", params, BT_LOGGING_LEVEL_NONE, &source) ==
	               BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
	       bt_graph_add_simple_sink_component(g->graph, "records", sink_begins, sink_consumes, NULL, r, &sink) ==
	               BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
	       bt_graph_connect_ports(g->graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
	                              bt_component_sink_borrow_input_port_by_index_const(sink, 0),
	                              NULL) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
	bt_value_put_ref(params);
	return made;
}

/* Wait for @ns, or until the caller stops the thread. False: it does. */
static bool pause_for(struct bsa_remote *r, long ns)
{
	struct timespec t;
	bool goes_on;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += (t.tv_nsec + ns) / NS;
	t.tv_nsec = (t.tv_nsec + ns) % NS;
	pthread_mutex_lock(&r->lock);
	while (!r->stop && pthread_cond_timedwait(&r->stopping, &r->lock, &t) == 0)
		;
	goes_on = !r->stop;
	pthread_mutex_unlock(&r->lock);
	return goes_on;
}

static bool is_stopped(struct bsa_remote *r)
{
	bool stop;

	pthread_mutex_lock(&r->lock);
	stop = r->stop;
	pthread_mutex_unlock(&r->lock);
	return stop;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

/* Until the session ends (true), or cannot be read on, or the caller wants no more. */
static bool graph_run(struct bsa_remote *r)
{
	int64_t asked = clock_ns(CLOCK_MONOTONIC);

	for (; !is_stopped(r); asked = clock_ns(CLOCK_MONOTONIC))
		switch (bt_graph_run_once(r->reading.graph)) {
		case BT_GRAPH_RUN_ONCE_STATUS_OK:
			atomic_store_explicit(&r->state, BSA_REMOTE_READING, memory_order_release);
			break;
		case BT_GRAPH_RUN_ONCE_STATUS_AGAIN:
			hand_over(r);
			atomic_store_explicit(&r->state, BSA_REMOTE_READING, memory_order_release);
			if (!pause_for(r, AGAIN_NS))
				return false;
			break;
		case BT_GRAPH_RUN_ONCE_STATUS_END:
			/* The relay drops the streams that began after the last question, because no viewer knows
			 * them. */
			if (!r->reading.n_streams || clock_ns(CLOCK_MONOTONIC) - asked > SEARCH_NS)
				atomic_store(&r->missed, true);
			return true;
		default:
			return false;
		}
	return false;
}

/* End the graph and its streams. A packet that was being read covers the time up to the last message. */
static void graph_end(struct bsa_remote *r)
{
	struct reading *g = &r->reading;

	for (size_t i = 0; i < g->n_streams; i++) {
		struct stream *s;

		cover_end(g, g->streams[i], g->now);
		s = g->streams[i];
		if (!s->trace->number)
			trace_free(s->trace);
		bt_stream_put_ref(s->stream);
		free(s);
	}
	g->n_streams = 0;
	g->last = NULL;
	g->iterator = NULL;
	bsa_bt_graph_put(g->graph);
	g->graph = NULL;
}

/*
 * The messages broke off, within packets or between them: events are lost from here on. When packets come again, the
 * time until then is a loss, too, because a service does not report its state again to the same session.
 */
static void break_off(struct bsa_remote *r)
{
	struct reading *g = &r->reading;

	if (!g->covered_by)
		return;
	push_loss(r, g->covered_by, g->covered,
	          &(struct bsa_loss){ .ended = g->covered,
	                              .events = BSA_NEVER,
	                              .packets = BSA_NEVER,
	                              .cpu = UINT32_MAX,
	                              .pid = r->list[g->covered_by - 1]->input.pid,
	                              .cause = BSA_LOSS_CUT });
	hand_over(r);
	atomic_store_explicit(&r->until, g->now + 1, memory_order_release); /* no record before comes any more */
	g->broken = true;
}

/* ---- the thread ---- */

static void set_failed(struct bsa_remote *r, const struct bsa_err *err)
{
	pthread_mutex_lock(&r->lock);
	r->err = *err;
	pthread_mutex_unlock(&r->lock);
	atomic_store_explicit(&r->state, BSA_REMOTE_FAILED, memory_order_release);
}

/* Find the session at the relay. 0; BSA_E_ENV. */
static int session_find(struct bsa_remote *r, struct bsa_err *err)
{
	struct bsa_relay_session s;
	const char *url = r->session.url ? r->session.url : r->url;
	int failed = bsa_relay_find(&s, r->reading.source, url, err);

	if (failed)
		return failed;
	if (s.viewers)
		failed = bsa_fail(err, BSA_E_ENV, "another program reads session %s of host %s; a relay allows one",
		                  s.name, s.host);
	if (s.streams)
		atomic_store(&r->missed, true);
	r->reading.late_by = s.streams ? s.timer_ns : 0;
	pthread_mutex_lock(&r->lock);
	if (!failed && !r->session.url) {
		r->session = s;
		s = (struct bsa_relay_session){ .url = NULL };
	}
	pthread_mutex_unlock(&r->lock);
	bsa_relay_session_fini(&s);
	return failed;
}

/*
 * Whether the relay is there, and has the session no more. While a session ends, libbabeltrace2 may report an
 * error instead of the end. A relay that died does not answer so soon.
 */
static bool session_has_ended(struct bsa_remote *r)
{
	struct bsa_relay_session s;
	const char *url = r->session.url ? r->session.url : r->url;

	if (!bsa_relay_find(&s, r->reading.source, url, NULL)) {
		bsa_relay_session_fini(&s);
		return false;
	}
	if (!bsa_relay_answers(r->reading.source, url))
		return false;
	atomic_store(&r->missed, true); /* the last packets may not have been read */
	return true;
}

/* The relay has gone: until it has the session again. False: the caller wants no more. */
static bool session_find_again(struct bsa_remote *r)
{
	atomic_store(&r->missed, true);
	atomic_store_explicit(&r->state, BSA_REMOTE_LOST, memory_order_release);
	while (pause_for(r, SEARCH_NS))
		if (session_find(r, NULL) == 0)
			return true;
	return false;
}

static void read_sessions(struct bsa_remote *r)
{
	struct bsa_err err = { "" };
	bool ended = false;

	if (session_find(r, &err)) {
		set_failed(r, &err);
		return;
	}
	do {
		ended = graph_make(r) && graph_run(r);
		hand_over(r);
		if (r->reading.no_memory)
			remote_no_memory(&err);
		else if (!ended && !r->reading.now) /* nothing was ever read */
			bsa_bt_failed(&err, BSA_E_ENV, "session %s of host %s cannot be read", r->session.name,
			              r->session.host);
		bsa_bt_forget();
		graph_end(r);
		ended = ended || (!*err.text && !is_stopped(r) && session_has_ended(r));
		if (!ended && !*err.text && !is_stopped(r))
			break_off(r);
	} while (!ended && !*err.text && session_find_again(r));
	if (*err.text) {
		set_failed(r, &err);
	} else if (ended) {
		atomic_store_explicit(&r->until, r->reading.now + 1, memory_order_release);
		atomic_store_explicit(&r->state, BSA_REMOTE_ENDED, memory_order_release);
	}
}

static void remote_free(struct bsa_remote *r)
{
	bsa_plans_fini(&r->reading.plans);
	for (size_t i = 0; i < r->n_traces; i++)
		trace_free(r->list[i]);
	bsa_relay_session_fini(&r->session);
	bsa_ring_fini(&r->ring);
	bsa_ties_free(r->ordered.ties);
	bt_component_class_source_put_ref(r->reading.source);
	pthread_cond_destroy(&r->stopping);
	pthread_mutex_destroy(&r->lock);
	free(r->reading.streams);
	free(r->list);
	free(r->url);
	free(r);
}

static void remote_unref(struct bsa_remote *r)
{
	unsigned left;

	pthread_mutex_lock(&r->lock);
	left = --r->references;
	pthread_mutex_unlock(&r->lock);
	if (!left)
		remote_free(r);
}

static void *read_remote(void *arg)
{
	struct bsa_remote *r = arg;

	read_sessions(r);
	remote_unref(r);
	return NULL;
}

/* ---- the caller ---- */

/* The first record that has been handed over. False: there is none now. */
static bool queue_head(struct bsa_remote *r, struct bsa_head *ret)
{
	const struct bsa_queued *first;

	if (r->batch && r->at == r->batch->bytes) {
		bsa_ring_pop(&r->ring);
		r->batch = NULL;
	}
	if (!r->batch) {
		r->at = 0;
		if (!bsa_ring_peek(&r->ring, &r->batch))
			return false;
	}
	first = bsa_queued_at(r->batch, r->at);
	ret->at = first->event.at;
	ret->rank = first->rank;
	return true;
}

/* A bsa_step: past the first record of the queue. */
static int step_queue(void *remote, struct bsa_head *head, const struct bsa_event **ret, struct bsa_err *err)
{
	struct bsa_remote *r = remote;
	const struct bsa_event *first = &bsa_queued_next(r->batch, &r->at)->event;

	(void)err;
	*ret = memcpy(r->record, first, first->size);
	return queue_head(r, head);
}

int bsa_remote_open(struct bsa_remote **ret, const char *url, struct bsa_err *err)
{
	struct bsa_remote *r = calloc(1, sizeof(*r));
	pthread_condattr_t clock;
	pthread_attr_t attributes;
	pthread_t thread;
	int failed;

	if (!r)
		return remote_no_memory(err);
	r->references = 1;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&r->stopping, &clock);
	pthread_condattr_destroy(&clock);
	r->url = strdup(url);
	r->ordered = (struct bsa_ordered){ .merge.heap = &r->head, .ties = bsa_ties_new() };
	failed = r->url && r->ordered.ties ? bsa_ring_init(&r->ring, err) : remote_no_memory(err);
	if (!failed) {
		r->reading.source = bsa_ctf_class("lttng-live", err);
		failed = r->reading.source ? 0 : BSA_E_ENV;
	}
	if (!failed) {
		int no_thread;

		pthread_attr_init(&attributes);
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		r->references++;
		no_thread = pthread_create(&thread, &attributes, read_remote, r);
		pthread_attr_destroy(&attributes);
		if (no_thread)
			failed = bsa_fail(err, BSA_E_ENV, "no thread to read a session: %s", strerror(no_thread));
	}
	if (failed)
		return remote_free(r), failed;
	*ret = r;
	return 0;
}

struct bsa_remote *bsa_remote_free(struct bsa_remote *r)
{
	if (!r)
		return NULL;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_broadcast(&r->stopping);
	pthread_mutex_unlock(&r->lock);
	bsa_ring_close(&r->ring);
	remote_unref(r);
	return NULL;
}

int bsa_remote_look(struct bsa_remote *r, bool all, struct bsa_err *err)
{
	int state = atomic_load_explicit(&r->state, memory_order_acquire);

	if (state == BSA_REMOTE_FAILED) {
		pthread_mutex_lock(&r->lock);
		bsa_fail(err, BSA_E_ENV, "%s", r->err.text);
		pthread_mutex_unlock(&r->lock);
		return BSA_E_ENV;
	}
	r->ordered.until = all ? BSA_NEVER : atomic_load_explicit(&r->until, memory_order_acquire);
	return 0;
}

int bsa_remote_next(struct bsa_remote *r, const struct bsa_event **ret)
{
	struct bsa_head head = { .who = 0 };

	if (!r->ordered.merge.n && queue_head(r, &head))
		bsa_merge_add(&r->ordered.merge, head);
	return bsa_ordered_next(&r->ordered, step_queue, r, ret, NULL);
}

uint64_t bsa_remote_until(const struct bsa_remote *r)
{
	return r->ordered.until;
}

/* The trace of that index. NULL if fewer are published. */
static struct trace *published_trace(struct bsa_remote *r, size_t i)
{
	struct trace *t;

	if (i >= atomic_load_explicit(&r->n_published, memory_order_acquire))
		return NULL;
	pthread_mutex_lock(&r->lock);
	t = r->list[i];
	pthread_mutex_unlock(&r->lock);
	return t;
}

const struct bsa_trace *bsa_remote_trace(struct bsa_remote *r, size_t i)
{
	const struct trace *t = published_trace(r, i);

	return t ? &t->input.info : NULL;
}

struct bsa_decoded bsa_remote_decoded(struct bsa_remote *r, size_t i)
{
	struct bsa_decoded sum = { .began = BSA_NEVER, .ended = BSA_NEVER };
	const struct trace *t = published_trace(r, i);

	assert(t);
	bsa_counts_add(&sum, &t->counts);
	return sum;
}

struct bsa_followed bsa_remote_followed(const struct bsa_remote *r)
{
	return (struct bsa_followed){ .late = r->ordered.late,
		                      .late_ns = r->ordered.late_ns,
		                      .streams = atomic_load(&r->n_streams) };
}

enum bsa_remote_state bsa_remote_state(const struct bsa_remote *r)
{
	return (enum bsa_remote_state)atomic_load_explicit(&r->state, memory_order_acquire);
}

bool bsa_remote_missed(const struct bsa_remote *r)
{
	return atomic_load(&r->missed);
}

bool bsa_remote_lead(struct bsa_remote *r, int64_t *ret)
{
	const struct trace *t = published_trace(r, 0);

	if (!t)
		return false;
	*ret = r->host == HOST_THIS ? 0
	                            : clock_ns(CLOCK_REALTIME) - t->input.info.clock_offset - clock_ns(CLOCK_MONOTONIC);
	return true;
}

void bsa_remote_name(struct bsa_remote *r, char *ret, size_t size)
{
	*ret = 0;
	pthread_mutex_lock(&r->lock);
	if (r->session.url)
		snprintf(ret, size, "session %s of host %s", r->session.name, r->session.host);
	pthread_mutex_unlock(&r->lock);
}
