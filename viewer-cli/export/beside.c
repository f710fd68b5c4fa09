/*
 * beside.c -- tracks that a trace viewer shows beside executions: losses, times for which a lane's
 * holder is unknown, the lag of each app, and preparations that missed their deadlines.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/scoped.h"
#include "base/template.h"
#include "export/world.h"

struct telling {
	struct bsv_world *w;
	uint64_t losses; /* the track above; 0 until it is announced */
	struct bsv_side_by_side lost, holes;
	struct bsa_err *err;
};

typedef void told(struct telling *t, const struct bsa_query *q);

static int each_row(struct telling *t, const char *sql, told *tell)
{
	struct bsa_query *q = NULL;
	int r = bsa_query_new(&q, t->w->input->db, sql, t->err);

	while (r >= 0 && !t->w->sink->failed && (r = bsa_query_step(q, t->err)) > 0) {
		tell(t, q);
		if (t->w->no_memory)
			r = bsv_no_memory(t->err);
	}
	bsa_query_free(q);
	return r;
}

static void arg_of(struct bsv_args *args, const struct bsa_query *q, size_t column)
{
	if (bsa_query_type(q, column) == BSA_INT)
		bsv_arg_int(args, bsa_query_name(q, column), bsa_query_get_int(q, column));
}

/* Column 0 and 1 are when; NULL: before, or after, what was recorded. Those after column 2, the name, are arguments. */
static void draw_interval(struct telling *t, const struct bsa_query *q, struct bsv_side_by_side *rows,
                          const char *track, unsigned category)
{
	int64_t began = bsa_query_type(q, 0) == BSA_INT ? bsa_query_get_int(q, 0) : t->w->clocks.began;
	int64_t ended = bsa_query_type(q, 1) == BSA_INT ? bsa_query_get_int(q, 1) : t->w->ended;
	const char *name = bsa_query_get_string(q, 2, NULL);
	struct bsv_args args = { 0 };
	struct bsv_sink_event e = {
		.at = began, .until = ended > began ? ended : began, .categories = 1u << category, .args = &args
	};
	struct bsv_row *row;

	if (!t->losses)
		t->losses = bsv_world_track(t->w, BSV_TRACK_GROUP, 0, 0, 0, "not recorded");
	row = bsv_row_for(t->w, rows, e.at, e.until, t->losses, t->losses, track);
	if (!row)
		return;
	for (size_t c = 3; c < bsa_query_columns(q); c++)
		arg_of(&args, q, c);
	e.name.text = name ? name : "unknown";
	e.track = row->sequence.track;
	e.process = t->losses;
	t->w->sink->begin(t->w->sink, &row->sequence, &e);
	t->w->sink->end(t->w->sink, &row->sequence, &e);
}

static void draw_loss(struct telling *t, const struct bsa_query *q)
{
	draw_interval(t, q, &t->lost, "losses", BSV_CAT_LOSS);
}

static void draw_hole(struct telling *t, const struct bsa_query *q)
{
	draw_interval(t, q, &t->holes, "lanes unknown", BSV_CAT_HOLE);
}

/*
 * app_id, at, lag_ns: of a window in which the app was backlogged, from its beginning on, and 0
 * from its end on if the app was not backlogged in the next window. Windows that were recorded in
 * part begin and end with the recording.
 */
static void draw_lag(struct telling *t, const struct bsa_query *q)
{
	struct bsv_owner *o = bsv_world_shown(t->w, bsa_query_get_int(q, 0));
	uint64_t process = bsv_owner_track(t->w, o);
	int64_t at = bsa_query_get_int(q, 1);

	if (!o->lag)
		o->lag = bsv_world_track(t->w, BSV_TRACK_NS, process, process, 0, "lag");
	t->w->sink->counter(t->w->sink, &t->w->beside,
	                    &(struct bsv_sink_event){ .track = o->lag,
	                                              .process = process,
	                                              .at = at < t->w->clocks.began ? t->w->clocks.began
	                                                    : at > t->w->ended      ? t->w->ended
	                                                                            : at,
	                                              .name = { "lag", 0 },
	                                              .value = bsa_query_get_int(q, 2) });
}

/* at, app_id, kind, over_ns, model_id */
static void draw_preparation(struct telling *t, const struct bsa_query *q)
{
	struct bsv_owner *o = bsv_world_shown(t->w, bsa_query_type(q, 1) == BSA_INT ? bsa_query_get_int(q, 1) : -1);
	uint64_t process = bsv_owner_track(t->w, o);
	struct bsv_sink_text model =
		bsv_named_text(&t->w->models, bsa_query_type(q, 4) == BSA_INT ? bsa_query_get_int(q, 4) : -1);
	struct bsv_args args = { 0 };
	struct bsv_sink_event e = {
		.process = process, .at = bsa_query_get_int(q, 0), .categories = 1u << BSV_CAT_MISS, .args = &args
	};

	if (!o->deadlines)
		o->deadlines = bsv_world_track(t->w, BSV_TRACK_SLICES, process, process, 0, "deadlines");
	e.track = o->deadlines;
	e.name.text = "preparation missed";
	bsv_arg_text(&args, "miss", bsa_query_get_string(q, 2, NULL), 0);
	arg_of(&args, q, 3);
	bsv_arg_text(&args, "model", model.text, model.key);
	t->w->sink->instant(t->w->sink, &t->w->beside, &e);
}

int bsv_draw_beside(struct bsv_world *w, enum bsv_detail_of_export detail, struct bsa_err *err)
{
	struct telling t = { .w = w, .err = err };
	int r = each_row(&t, bsv_sql_export_losses, draw_loss);

	if (r >= 0)
		r = each_row(&t, bsv_sql_export_unknown_lanes, draw_hole);
	if (r >= 0 && !w->input->picks)
		r = each_row(&t, bsv_sql_export_preparations, draw_preparation);
	if (r >= 0 && detail != BSV_EXPORT_LANES && !w->input->picks)
		r = each_row(&t, bsv_sql_export_lags, draw_lag);
	free(t.lost.rows);
	free(t.holes.rows);
	return r;
}
