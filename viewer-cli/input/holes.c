/* holes.c -- reads the holes of a recording, and computes their share of an app's time. */
#include "input/holes.h"

#include <stdlib.h>
#include <string.h>

#include "base/rows.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/vector.h"

int bsv_holes_read(struct bsv_holes *ret, const struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *losses = NULL, *presences = NULL;
	int r = bsv_rows_query(&losses, input->db, bsv_sql_holes_losses, err);

	*ret = (struct bsv_holes){ .began = input->began, .ended = input->ended };
	while (r >= 0 && (r = bsv_rows_step(losses, err)) > 0) {
		const char *app = bsv_rows_cell(losses, 2).type == BSA_NULL ? NULL : bsv_rows_cell(losses, 2).text;
		struct bsv_hole_seen *h;

		if (!bsv_array_grow(&ret->of, ret->n, sizeof(*ret->of)))
			return bsv_no_memory(err);
		h = &ret->of[ret->n++];
		*h = (struct bsv_hole_seen){ bsv_rows_get(losses, 0, input->began),
			                     bsv_rows_get(losses, 1, input->ended), app ? strdup(app) : NULL };
		if (app && !h->app)
			return bsv_no_memory(err);
	}
	if (r < 0 || !ret->n)
		return r;

	r = bsv_rows_query(&presences, input->db, bsv_sql_holes_presences, err);
	while (r >= 0 && (r = bsv_rows_step(presences, err)) > 0) {
		const char *app = bsv_rows_cell(presences, 0).text;
		struct bsv_presence *p;

		if (!bsv_array_grow(&ret->apps, ret->n_apps, sizeof(*ret->apps)))
			return bsv_no_memory(err);
		p = &ret->apps[ret->n_apps++];
		*p = (struct bsv_presence){ strdup(app ? app : ""), bsv_rows_get(presences, 1, input->began),
			                    bsv_rows_get(presences, 2, input->ended) };
		if (!p->app)
			return bsv_no_memory(err);
	}
	return r;
}

void bsv_holes_fini(struct bsv_holes *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->of[i].app);
	for (size_t i = 0; i < h->n_apps; i++)
		free(h->apps[i].app);
	free(h->of);
	free(h->apps);
	*h = (struct bsv_holes){ 0 };
}

double bsv_holes_share(const struct bsv_holes *h, const char *app, bool *ret_touched)
{
	int64_t from = h->began, to = h->ended, until;
	double hidden = 0, all;

	*ret_touched = false;
	for (size_t i = 0; i < h->n_apps; i++)
		if (!strcmp(h->apps[i].app, app)) {
			from = h->apps[i].from;
			to = h->apps[i].to;
		}
	until = from;
	for (size_t i = 0; i < h->n; i++) {
		const struct bsv_hole_seen *hole = &h->of[i];
		int64_t began = hole->began > until ? hole->began : until, ended = hole->ended < to ? hole->ended : to;

		if ((hole->app && strcmp(hole->app, app)) || hole->began > to || hole->ended < from)
			continue;
		*ret_touched = true;
		if (ended <= began)
			continue;
		hidden += (double)ended - (double)began;
		until = ended;
	}
	all = (double)to - (double)from;
	return hidden <= 0 ? 0 : all <= hidden ? 1 : hidden / all;
}
