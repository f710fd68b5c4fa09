/* world.c -- reads the apps, models and streams of a database, and makes a track for each. */
#include "export/world.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/vector.h"

enum { INSTANCE_SHIFT = 20, INSTANCE_MASK = 0xfff, ROWS_TRIED = 4096, NAME_ROOM = 80 };

/* ---- reading ---- */

/* Calls @each for every row of @template, whose placeholders may be @relations@ and @relation@. */
static int each_row(struct bsv_world *w, const char *template, const char *relation,
                    bool (*each)(struct bsv_world *w, const struct bsv_rows *r), struct bsa_err *err)
{
	const struct bsv_placeholder placeholders[] = { { "relations", w->input->with },
		                                        { "relation", relation },
		                                        { NULL, NULL } };
	bsv_scoped_text *sql = bsv_fill(template, placeholders);
	bsv_scoped_rows *rows = NULL;
	int r = sql ? bsv_rows_query(&rows, w->input->db, sql, err) : bsv_no_memory(err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0)
		if (!each(w, rows))
			return bsv_no_memory(err);
	return r;
}

static bool add_name(struct bsv_named *named, const struct bsv_rows *r)
{
	struct bsv_cell name = bsv_rows_cell(r, 1);

	if (!bsv_array_grow(&named->ids, named->n, sizeof(*named->ids)) ||
	    !bsv_array_grow(&named->names, named->n, sizeof(*named->names)))
		return false;
	named->ids[named->n] = bsv_rows_get(r, 0, 0);
	named->names[named->n] = name.text ? strndup(name.text, name.bytes) : strdup("?");
	return named->names[named->n++] != NULL;
}

static bool add_app(struct bsv_world *w, const struct bsv_rows *r)
{
	return add_name(&w->apps, r);
}

static bool add_model(struct bsv_world *w, const struct bsv_rows *r)
{
	return add_name(&w->models, r);
}

/* id, pid, app_id, whether it is the first with its pid */
static bool add_process(struct bsv_world *w, const struct bsv_rows *r)
{
	int64_t pid = bsv_rows_get(r, 1, 0);
	struct bsv_owner *p, *app;

	if (!bsv_array_grow(&w->processes, w->n_processes, sizeof(*p)))
		return false;
	p = &w->processes[w->n_processes++];
	*p = (struct bsv_owner){ .id = bsv_rows_get(r, 0, 0), .app = bsv_rows_get(r, 2, -1) };
	if (w->clocks.one_host && bsv_rows_get(r, 3, 0) && pid > 0 && pid <= INT32_MAX)
		p->pid = pid;
	app = bsv_world_app(w, p->app);
	app->process = app->process ? app->process : w->n_processes;
	return true;
}

/* The owner of @id among @n that are in the order of their ids; NULL: no owner. */
static struct bsv_owner *owner_of(struct bsv_owner *owners, size_t n, int64_t id)
{
	size_t from = 0, to = n;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (owners[at].id == id)
			return &owners[at];
		if (owners[at].id < id)
			from = at + 1;
		else
			to = at;
	}
	return NULL;
}

/* id, trace_id, number, path, the process that is shown, app_id */
static bool add_stream(struct bsv_world *w, const struct bsv_rows *r)
{
	struct bsv_stream_of *s;
	const char *path = bsv_rows_cell(r, 3).text;
	int64_t number = bsv_rows_get(r, 2, 0), trace = bsv_rows_get(r, 1, 0);
	int64_t instance = number >> INSTANCE_SHIFT & INSTANCE_MASK;
	size_t service = w->n_services;

	if (!bsv_array_grow(&w->streams, w->n_streams, sizeof(*s)))
		return false;
	s = &w->streams[w->n_streams++];
	*s = (struct bsv_stream_of){ .id = bsv_rows_get(r, 0, 0), .number = number };
	snprintf(s->path, sizeof(s->path), "%s", path ? path : "stream");
	s->owner = owner_of(w->processes, w->n_processes, bsv_rows_get(r, 4, -1));
	if (!s->owner)
		s->owner = bsv_world_app(w, bsv_rows_get(r, 5, -1));
	while (service && (w->services[service - 1].trace != trace || w->services[service - 1].instance != instance))
		service--;
	if (!service) {
		if (!bsv_array_grow(&w->services, w->n_services, sizeof(*w->services)))
			return false;
		w->services[w->n_services] = (struct bsv_service_of){ .trace = trace, .instance = instance };
		service = ++w->n_services;
	}
	s->service = service - 1;
	return !w->no_memory;
}

static bool read_clock(struct bsv_world *w, const struct bsv_rows *r)
{
	const char *uuid = bsv_rows_cell(r, 4).text;

	w->clocks.one_host = bsv_rows_get(r, 0, 0) == 1;
	w->clocks.offset = w->clocks.one_host ? bsv_rows_get(r, 1, 0) : 0;
	w->clocks.began = bsv_rows_get(r, 2, 0);
	w->ended = bsv_rows_get(r, 3, w->clocks.began);
	w->clocks.boottime_known = w->clocks.one_host && bsv_rows_cell(r, 5).type == BSA_INT;
	w->clocks.boottime = bsv_rows_get(r, 5, 0);
	snprintf(w->uuid, sizeof(w->uuid), "%s", uuid ? uuid : "");
	w->clocks.uuid = w->uuid;
	return true;
}

int bsv_world_read(struct bsv_world *w, struct bsv_input *input, struct bsa_err *err)
{
	int r;

	w->input = input;
	w->beside.any_order = true;
	r = each_row(w, bsv_sql_export_clock, NULL, read_clock, err);
	if (r >= 0)
		r = each_row(w, bsv_sql_names, "apps", add_app, err);
	if (r >= 0)
		r = each_row(w, bsv_sql_names, "models", add_model, err);
	if (r >= 0) {
		w->owners = calloc(w->apps.n + 1, sizeof(*w->owners));
		for (size_t i = 0; w->owners && i <= w->apps.n; i++)
			w->owners[i] = (struct bsv_owner){ .id = i < w->apps.n ? w->apps.ids[i] : -1,
				                           .app = i < w->apps.n ? w->apps.ids[i] : -1 };
		r = w->owners ? r : bsv_no_memory(err);
	}
	if (r >= 0)
		r = each_row(w, bsv_sql_export_processes, NULL, add_process, err);
	if (r >= 0)
		r = each_row(w, bsv_sql_export_streams, NULL, add_stream, err);
	return r;
}

void bsv_world_fini(struct bsv_world *w)
{
	struct bsv_named *named[] = { &w->apps, &w->models };

	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < named[k]->n; i++)
			free(named[k]->names[i]);
		free(named[k]->names);
		free(named[k]->ids);
	}
	for (size_t i = 0; i < w->n_streams; i++)
		free(w->streams[i].rows.rows);
	free(w->streamless.rows);
	free(w->streams);
	free(w->processes);
	free(w->owners);
	free(w->services);
}

/* ---- finding ---- */

struct bsv_stream_of *bsv_world_stream(struct bsv_world *w, int64_t id)
{
	size_t from = 0, to = w->n_streams;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (w->streams[at].id == id)
			return &w->streams[at];
		if (w->streams[at].id < id)
			from = at + 1;
		else
			to = at;
	}
	return NULL;
}

struct bsv_owner *bsv_world_app(struct bsv_world *w, int64_t app)
{
	struct bsv_owner *o = owner_of(w->owners, w->apps.n, app);

	return o ? o : &w->owners[w->apps.n];
}

struct bsv_owner *bsv_world_shown(struct bsv_world *w, int64_t app)
{
	struct bsv_owner *o = bsv_world_app(w, app);

	return o->process && o->app >= 0 ? &w->processes[o->process - 1] : o;
}

struct bsv_sink_text bsv_named_text(const struct bsv_named *named, int64_t id)
{
	size_t from = 0, to = named->n;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (named->ids[at] == id)
			return (struct bsv_sink_text){ named->names[at], BSV_KEYS + (uint32_t)at };
		if (named->ids[at] < id)
			from = at + 1;
		else
			to = at;
	}
	return (struct bsv_sink_text){ NULL, 0 };
}

/* ---- tracks ---- */

uint64_t bsv_world_track(struct bsv_world *w, enum bsv_track_kind kind, uint64_t parent, uint64_t process, int64_t pid,
                         const char *name)
{
	uint64_t id = ++w->tracks;

	w->sink->track(w->sink, &(struct bsv_track){ .id = id,
	                                             .parent = parent,
	                                             .process = process ? process : id,
	                                             .kind = kind,
	                                             .pid = pid,
	                                             .name = name });
	return id;
}

uint64_t bsv_owner_track(struct bsv_world *w, struct bsv_owner *o)
{
	struct bsv_sink_text name = bsv_named_text(&w->apps, o->app);

	if (!o->track)
		o->track = bsv_world_track(w, BSV_TRACK_GROUP, 0, 0, o->pid, name.text ? name.text : "unknown app");
	return o->track;
}

uint64_t bsv_service_track(struct bsv_world *w, struct bsv_service_of *s)
{
	char name[NAME_ROOM];

	snprintf(name, sizeof(name), w->n_services > 1 ? "service %" PRId64 : "service", s->instance);
	if (!s->track)
		s->track = bsv_world_track(w, BSV_TRACK_GROUP, 0, 0, 0, name);
	return s->track;
}

uint64_t bsv_service_lane(struct bsv_world *w, struct bsv_service_of *s, int64_t lane)
{
	size_t at = lane < 0 || lane >= BSV_LANES_SHOWN ? BSV_LANES_SHOWN - 1 : (size_t)lane;
	uint64_t service = bsv_service_track(w, s);
	char name[NAME_ROOM];

	snprintf(name, sizeof(name), "lane %zu", at);
	if (!s->lanes[at])
		s->lanes[at] = bsv_world_track(w, BSV_TRACK_SLICES, service, service, 0, name);
	return s->lanes[at];
}

/* Rows are tried from the first on, so that what does not overlap is in one. */
struct bsv_row *bsv_row_for(struct bsv_world *w, struct bsv_side_by_side *rows, int64_t began, int64_t ended,
                            uint64_t parent, uint64_t process, const char *name)
{
	struct bsv_row *row = rows->rows;

	for (size_t i = 0; i < rows->n && i < ROWS_TRIED; i++, row++)
		if (row->ends <= began) {
			row->ends = ended;
			return row;
		}
	if (!bsv_array_grow(&rows->rows, rows->n, sizeof(*row))) {
		w->no_memory = true;
		return NULL;
	}
	row = &rows->rows[rows->n++];
	*row = (struct bsv_row){ .ends = ended };
	row->sequence.track = bsv_world_track(w, BSV_TRACK_SLICES, parent, process, 0, name);
	return row;
}
