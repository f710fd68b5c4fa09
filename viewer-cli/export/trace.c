/*
 * trace.c -- writes a whole database to a sink: lanes, executions, and what is beside them.
 *
 * ORDER   Lanes are written first: an instant on a lane, at the begin of a slice there, is then inside that slice.
 */
#include "export/trace.h"

#include "base/scoped.h"

/* The database is read once from begin to end, so a small cache is enough. */
enum { MEMORY_KIB = 8192 };

int bsv_export_trace(struct bsv_input *input, const struct bsv_trace_asked *asked, FILE *to, struct bsa_err *err)
{
	struct bsv_world w = { 0 };
	int r;

	bsa_db_memory(input->db, MEMORY_KIB);
	r = bsv_world_read(&w, input, err);
	if (r >= 0) {
		w.sink = asked->format == BSV_PERFETTO ? bsv_perfetto_new(to, &w.clocks, asked->compress)
		                                       : bsv_chrome_new(to, &w.clocks);
		r = w.sink ? bsv_draw_lanes(&w, asked->detail, err) : bsv_no_memory(err);
	}
	if (r >= 0)
		r = bsv_draw_executions(&w, asked->detail, err);
	if (r >= 0)
		r = bsv_draw_beside(&w, asked->detail, err);
	if (r >= 0)
		r = w.sink->finish(w.sink, err);
	if (w.sink)
		w.sink->free(w.sink);
	bsv_world_fini(&w);
	return r;
}
