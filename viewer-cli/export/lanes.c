/*
 * lanes.c -- lanes for a trace viewer: who held each, how many were held, and how many executions
 * were ready and had none.
 *
 * ORDER   Stretches of lanes and of queues are read in the order in which they began; ends are kept
 *         in a heap until it is their turn. It holds what is under way.
 * QUEUE   An execution is in the queue of its service from when it is ready until it is on a lane,
 *         or given up, and again while it is preempted. Counters are those of all executions: where
 *         some are picked, there are none.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/scoped.h"
#include "base/template.h"
#include "base/vector.h"
#include "export/world.h"

/*
 * The event that comes next. What happens at one time is written in this order, so that a lane is
 * free before another execution gets it.
 */
enum kind { LANE_ENDS, QUEUE_ENDS, LANE_BEGINS, QUEUE_BEGINS, NOTHING };

/* The end of a stretch that has begun. */
struct pending {
	int64_t at;
	enum kind kind;
	size_t service; /* index in the world's services */
	uint64_t track; /* the track of the lane */
};

struct lane_writer {
	struct bsv_world *w;
	struct bsv_sequence sequence;
	bool counters;                   /* write the queue's length, and how many lanes are held */
	bool flows;                      /* link the stretches of an execution to its other events */
	struct bsa_query *lanes, *queue; /* queue NULL: no counters */
	bool more_lanes, more_queue;     /* the query is at a row */
	struct pending *heap;            /* owned; the earliest end first */
	size_t n;
	struct bsa_err *err;
	int failed;
};

/* ---- what is under way ---- */

static bool is_earlier(const struct pending *a, const struct pending *b)
{
	return a->at < b->at || (a->at == b->at && a->kind < b->kind);
}

static void swap_pending(struct pending *a, struct pending *b)
{
	struct pending c = *a;

	*a = *b;
	*b = c;
}

static void heap_push(struct lane_writer *t, struct pending p)
{
	if (!bsv_array_grow(&t->heap, t->n, sizeof(*t->heap))) {
		t->failed = bsv_no_memory(t->err);
		return;
	}
	t->heap[t->n] = p;
	for (size_t i = t->n++; i && is_earlier(&t->heap[i], &t->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap_pending(&t->heap[i], &t->heap[(i - 1) / 2]);
}

static struct pending heap_pop(struct lane_writer *t)
{
	struct pending first;

	assert(t->n);
	first = t->heap[0];
	t->heap[0] = t->heap[--t->n];
	for (size_t i = 0, child = 1; child < t->n; i = child, child = 2 * i + 1) {
		if (child + 1 < t->n && is_earlier(&t->heap[child + 1], &t->heap[child]))
			child++;
		if (!is_earlier(&t->heap[child], &t->heap[i]))
			break;
		swap_pending(&t->heap[i], &t->heap[child]);
	}
	return first;
}

/* ---- rows ---- */

/* lanes: began, ended, lane, execution_id, stream_id, app_id, model_id; queue: stream_id, began, ended */
enum { LANE_BEGAN, LANE_ENDED, LANE_NUMBER, LANE_EXECUTION, LANE_STREAM, LANE_APP, LANE_MODEL };
enum { QUEUE_STREAM, QUEUE_BEGAN, QUEUE_ENDED };

static bool query_step(struct lane_writer *t, struct bsa_query *q)
{
	int r = bsa_query_step(q, t->err);

	if (r < 0)
		t->failed = r;
	return r > 0;
}

/* The service of the stream. NULL: unknown. */
static struct bsv_service_of *service_of(struct lane_writer *t, int64_t stream)
{
	struct bsv_stream_of *s = bsv_world_stream(t->w, stream);

	return s ? &t->w->services[s->service] : NULL;
}

/* ---- events ---- */

static void make_counters(struct lane_writer *t, struct bsv_service_of *s)
{
	uint64_t service = bsv_service_track(t->w, s);

	if (s->queue)
		return;
	s->queue = bsv_world_track(t->w, BSV_TRACK_COUNT, service, service, 0, "queue length");
	s->busy = bsv_world_track(t->w, BSV_TRACK_COUNT, service, service, 0, "lanes held");
}

static void write_queue(struct lane_writer *t, struct bsv_service_of *s, int64_t at)
{
	make_counters(t, s);
	t->w->sink->counter(t->w->sink, &t->sequence,
	                    &(struct bsv_sink_event){ .track = s->queue,
	                                              .process = s->track,
	                                              .at = at,
	                                              .name = { "queue length", 0 },
	                                              .value = s->queued });
}

static void write_lane(struct lane_writer *t, struct bsv_service_of *s, struct bsv_sink_event *e, bool begins)
{
	static const char *const names[] = { "lanes held", "queue length" };
	uint64_t tracks[2];
	int64_t values[2];

	if (t->counters) {
		make_counters(t, s);
		tracks[0] = s->busy, tracks[1] = s->queue;
		values[0] = s->held, values[1] = s->queued;
		e->more_tracks = tracks;
		e->more_values = values;
		e->more_names = names;
		e->n_more = begins ? 2 : 1;
	}
	(begins ? t->w->sink->begin : t->w->sink->end)(t->w->sink, &t->sequence, e);
}

static void lane_begins(struct lane_writer *t)
{
	const struct bsa_query *q = t->lanes;
	struct bsv_service_of *s = service_of(t, bsa_query_get_int(q, LANE_STREAM));
	int64_t ended = bsa_query_get_int(q, LANE_ENDED), began = bsa_query_get_int(q, LANE_BEGAN);
	struct bsv_sink_text model = bsv_named_text(&t->w->models, bsa_query_get_int(q, LANE_MODEL));
	struct bsv_sink_event e = { .at = began,
		                    .until = ended > began ? ended : began,
		                    .categories = 1u << BSV_CAT_LANE };
	struct bsv_args args = { 0 };

	if (!s)
		return;
	s->held++;
	e.name = bsv_named_text(&t->w->apps, bsa_query_get_int(q, LANE_APP));
	if (!e.name.text)
		e.name = (struct bsv_sink_text){ "unknown app", 0 };
	e.track = bsv_service_lane(t->w, s, bsa_query_get_int(q, LANE_NUMBER));
	e.process = s->track;
	e.flow = t->flows ? 2 * (uint64_t)bsa_query_get_int(q, LANE_EXECUTION) : 0;
	e.flow_goes_on = true;
	e.args = &args;
	bsv_arg_int(&args, "id", bsa_query_get_int(q, LANE_EXECUTION));
	bsv_arg_text(&args, "model", model.text, model.key);
	write_lane(t, s, &e, true);
	heap_push(t, (struct pending){ e.until, LANE_ENDS, (size_t)(s - t->w->services), e.track });
}

static void queue_begins(struct lane_writer *t)
{
	struct bsv_service_of *s = service_of(t, bsa_query_get_int(t->queue, QUEUE_STREAM));
	int64_t began = bsa_query_get_int(t->queue, QUEUE_BEGAN);

	if (!s)
		return;
	s->queued++;
	write_queue(t, s, began);
	heap_push(t, (struct pending){ bsa_query_get_int(t->queue, QUEUE_ENDED), QUEUE_ENDS,
	                               (size_t)(s - t->w->services), 0 });
}

static void stretch_ends(struct lane_writer *t, const struct pending *p)
{
	struct bsv_service_of *s = &t->w->services[p->service];
	bool lane_follows = t->more_lanes && bsa_query_get_int(t->lanes, LANE_BEGAN) == p->at &&
	                    service_of(t, bsa_query_get_int(t->lanes, LANE_STREAM)) == s;
	struct bsv_sink_event e = { .track = p->track, .process = s->track, .at = p->at, .until = p->at };

	if (p->kind == LANE_ENDS) {
		assert(s->held > 0);
		s->held--;
		write_lane(t, s, &e, false);
		return;
	}
	assert(s->queued > 0);
	s->queued--;
	if (!lane_follows) /* otherwise the begin of that stretch has the queue's length, too */
		write_queue(t, s, p->at);
}

static enum kind next_kind(const struct lane_writer *t)
{
	struct pending first = { INT64_MAX, NOTHING, 0, 0 }, lane = { 0, LANE_BEGINS, 0, 0 },
		       queue = { 0, QUEUE_BEGINS, 0, 0 };

	if (t->n)
		first = t->heap[0];
	if (t->more_lanes) {
		lane.at = bsa_query_get_int(t->lanes, LANE_BEGAN);
		if (is_earlier(&lane, &first))
			first = lane;
	}
	if (t->more_queue) {
		queue.at = bsa_query_get_int(t->queue, QUEUE_BEGAN);
		if (is_earlier(&queue, &first))
			first = queue;
	}
	return first.kind;
}

static void write_all(struct lane_writer *t)
{
	struct pending p;

	t->more_lanes = query_step(t, t->lanes);
	t->more_queue = t->queue && query_step(t, t->queue);
	while (!t->failed && !t->w->sink->failed)
		switch (next_kind(t)) {
		case LANE_BEGINS:
			lane_begins(t);
			t->more_lanes = query_step(t, t->lanes);
			break;
		case QUEUE_BEGINS:
			queue_begins(t);
			t->more_queue = query_step(t, t->queue);
			break;
		case NOTHING:
			return;
		default:
			p = heap_pop(t);
			stretch_ends(t, &p);
		}
}

int bsv_draw_lanes(struct bsv_world *w, enum bsv_detail_of_export detail, struct bsa_err *err)
{
	struct lane_writer t = { .w = w, .err = err };
	int r;

	t.flows = detail == BSV_EXPORT_ALL;
	t.counters = detail != BSV_EXPORT_LANES && !w->input->picks;
	t.sequence.keys[0] = calloc(w->apps.n / 8 + 1, 1);
	t.sequence.keys[1] = calloc(w->models.n / 8 + 1, 1);
	r = t.sequence.keys[0] && t.sequence.keys[1] ? 0 : bsv_no_memory(err);
	if (r >= 0)
		r = bsv_query_new(&t.lanes, w->input->db, bsv_sql_export_lanes,
		                  (const struct bsv_placeholder[]){ { "relations", w->input->with }, { NULL, NULL } },
		                  err);
	if (r >= 0 && t.counters)
		r = bsa_query_new(&t.queue, w->input->db, bsv_sql_export_queue, err);
	if (r >= 0)
		write_all(&t);
	bsa_query_free(t.lanes);
	bsa_query_free(t.queue);
	free(t.heap);
	free(t.sequence.keys[0]);
	free(t.sequence.keys[1]);
	return r < 0 ? r : t.failed;
}
