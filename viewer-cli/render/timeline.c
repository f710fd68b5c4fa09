/* timeline.c -- adds up by cells all that is to be drawn. */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "render/timeline_own.h"

enum { LABEL_LEAST = 12, LABEL_MOST = 20, CELLS_LEAST = 8 };

/* ---- made, and gone ---- */

static void *per_cell(struct bsv_timeline *t, size_t size)
{
	void *p = calloc((size_t)t->span.cells, size);

	if (!p)
		t->failed = true;
	return p;
}

struct bsv_timeline *bsv_timeline_new(int64_t from, int64_t to, int width)
{
	struct bsv_timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->width = width > LABEL_LEAST + CELLS_LEAST ? width : LABEL_LEAST + CELLS_LEAST;
	t->label = t->width / 5 < LABEL_LEAST ? LABEL_LEAST : t->width / 5 > LABEL_MOST ? LABEL_MOST : t->width / 5;
	t->span = (struct bsv_span){ from, to, t->width - t->label };
	t->began = from;
	t->ended = to;
	for (size_t i = 0; i < BSV_MARKS; i++)
		t->marks[i] = per_cell(t, sizeof(*t->marks[i]));
	for (size_t i = 0; i < BSV_STATES; i++)
		t->states[i] = per_cell(t, sizeof(*t->states[i]));
	t->lost = per_cell(t, sizeof(*t->lost));
	return t;
}

static void folk_fini(struct bsv_folk *f)
{
	bsv_map_fini(&f->numbers);
	free(f->ids);
}

struct bsv_timeline *bsv_timeline_free(struct bsv_timeline *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; t->waiting && i < t->waiting_ones.n; i++)
		free(t->waiting[i].cells);
	free(t->waiting);
	for (size_t i = 0; i < t->n_lanes; i++)
		free(t->lanes[i].covers);
	for (size_t i = 0; i < t->n_cpus; i++) {
		free(t->cpus[i].busy);
		free(t->cpus[i].idle);
	}
	for (size_t i = 0; i < BSV_MARKS; i++)
		free(t->marks[i]);
	for (size_t i = 0; i < BSV_STATES; i++)
		free(t->states[i]);
	free(t->lost);
	free(t->focus);
	folk_fini(&t->apps);
	folk_fini(&t->waiting_ones);
	bsv_map_fini(&t->held);
	free(t);
	return NULL;
}

/* ---- what is told ---- */

/* The number of @id; negative: no memory. */
static int64_t folk_number(struct bsv_folk *f, int64_t id)
{
	uint64_t *number = bsv_map_at(&f->numbers, (uint64_t)id);

	if (!number)
		return -1;
	if (*number)
		return (int64_t)*number - 1;
	if (f->n >= BSV_WHO_MOST - 1) {
		f->many = true;
		f->n = BSV_WHO_MOST;
		return BSV_WHO_MOST - 1;
	}
	if (!bsv_array_grow(&f->ids, f->n, sizeof(*f->ids)))
		return -1;
	f->ids[f->n] = id;
	*number = ++f->n;
	return (int64_t)f->n - 1;
}

void bsv_timeline_recorded(struct bsv_timeline *t, int64_t began, int64_t ended)
{
	if (!t)
		return;
	t->began = began;
	t->ended = ended;
}

/* NULL: no memory, or there are too many. */
static struct bsv_lane *lane_of(struct bsv_timeline *t, int64_t service, int64_t lane)
{
	size_t i = 0;

	while (i < t->n_lanes && (t->lanes[i].service != service || t->lanes[i].lane != lane))
		i++;
	if (i < t->n_lanes)
		return &t->lanes[i];
	if (t->n_lanes == BSV_LANES_MOST) {
		t->more_lanes++;
		return NULL;
	}
	t->lanes[i] = (struct bsv_lane){ service, lane, per_cell(t, sizeof(*t->lanes[i].covers)), INT64_MIN };
	if (!t->lanes[i].covers)
		return NULL;
	t->n_lanes++;
	return &t->lanes[i];
}

void bsv_timeline_lane(struct bsv_timeline *t, int64_t service, int64_t lane)
{
	if (t)
		lane_of(t, service, lane);
}

static bool is_inside(const struct bsv_timeline *t, int64_t began, int64_t ended)
{
	return !t->failed && began < t->span.to && ended > t->span.from && began < ended;
}

/* The parts of a cell that a stretch between two places has. */
static uint64_t parts_in_cell(const struct bsv_timeline *t, struct bsv_place a, struct bsv_place b, int cell)
{
	return (cell == b.cell ? b.part : bsv_span_parts(&t->span)) - (cell == a.cell ? a.part : 0);
}

static void add_held(struct bsv_timeline *t, struct bsv_lane *lane, uint32_t app, int64_t began, int64_t ended)
{
	struct bsv_place a = bsv_span_place(&t->span, began), b = bsv_span_place(&t->span, ended);

	lane->told = ended > lane->told ? ended : lane->told;
	for (int i = a.cell; i <= b.cell && i < t->span.cells; i++) {
		uint64_t cell = (uint64_t)(lane - t->lanes) * (uint64_t)t->span.cells + (uint64_t)i;
		uint64_t *parts = bsv_map_at(&t->held, cell << 32 | app);

		if (parts)
			*parts += parts_in_cell(t, a, b, i);
		else
			t->failed = true;
	}
}

void bsv_timeline_held(struct bsv_timeline *t, int64_t service, int64_t lane, int64_t app, int64_t began, int64_t ended)
{
	struct bsv_lane *l;
	int64_t number;

	if (!t || !is_inside(t, began, ended))
		return;
	number = folk_number(&t->apps, app);
	if (number < 0) {
		t->failed = true;
		return;
	}
	l = lane_of(t, service, lane);
	if (!l)
		return;
	bsv_cover_add(l->covers, &t->span, began, ended);
	add_held(t, l, (uint32_t)number, began, ended);
}

void bsv_timeline_unknown(struct bsv_timeline *t, int64_t service, int64_t lane, int64_t began, int64_t ended)
{
	struct bsv_lane *l = t && is_inside(t, began, ended) ? lane_of(t, service, lane) : NULL;

	if (l)
		add_held(t, l, BSV_UNKNOWN_WHO, began, ended);
}

void bsv_timeline_open(struct bsv_timeline *t, int64_t service, int64_t began, int64_t ended)
{
	for (size_t i = 0; t && i < t->n_lanes; i++) {
		struct bsv_lane *l = &t->lanes[i];
		int64_t from = l->told > began ? l->told : began;

		if (l->service == service && is_inside(t, from, ended))
			add_held(t, l, BSV_UNKNOWN_WHO, from, ended);
	}
}

void bsv_timeline_waited(struct bsv_timeline *t, int64_t who, int64_t began, int64_t ended)
{
	struct bsv_place a, b;
	struct bsv_waiting *w;
	int64_t number;

	if (!t || !is_inside(t, began, ended))
		return;
	number = folk_number(&t->waiting_ones, who);
	if (!t->waiting)
		t->waiting = calloc(BSV_WHO_MOST, sizeof(*t->waiting));
	w = t->waiting && number >= 0 ? &t->waiting[number] : NULL;
	if (w && !w->cells)
		w->cells = per_cell(t, sizeof(*w->cells));
	if (!w || !w->cells) {
		t->failed = true;
		return;
	}
	a = bsv_span_place(&t->span, began);
	b = bsv_span_place(&t->span, ended);
	for (int i = a.cell; i <= b.cell && i < t->span.cells; i++) {
		uint64_t parts = parts_in_cell(t, a, b, i);

		w->cells[i] += parts;
		w->all += parts;
	}
}

void bsv_timeline_cpu(struct bsv_timeline *t, int64_t cpu, bool busy, int64_t began, int64_t ended)
{
	size_t i = 0;

	if (!t || !is_inside(t, began, ended))
		return;
	while (i < t->n_cpus && t->cpus[i].cpu != cpu)
		i++;
	if (i == BSV_CPUS_MOST) {
		t->more_cpus++;
		return;
	}
	if (i == t->n_cpus) {
		t->cpus[i].cpu = cpu;
		t->cpus[i].busy = per_cell(t, sizeof(*t->cpus[i].busy));
		t->cpus[i].idle = per_cell(t, sizeof(*t->cpus[i].idle));
		t->n_cpus++;
	}
	if (!t->failed)
		bsv_cover_add(busy ? t->cpus[i].busy : t->cpus[i].idle, &t->span, began, ended);
}

void bsv_timeline_mark(struct bsv_timeline *t, enum bsv_mark mark, int64_t at)
{
	bool last = t && at == t->span.to && at == t->ended; /* the end of the recording has no later column */

	if (!t || t->failed || at < t->span.from || (at >= t->span.to && !last))
		return;
	t->marks[mark][bsv_span_cell(&t->span, at)]++;
	t->counts[mark]++;
}

void bsv_timeline_lost(struct bsv_timeline *t, int64_t began, int64_t ended)
{
	int first, last;

	if (!t || t->failed || began >= t->span.to || ended < t->span.from)
		return;
	first = bsv_span_cell(&t->span, began);
	last = bsv_span_cell(&t->span, ended);
	for (int i = first; i <= last; i++)
		t->lost[i].covered = 1;
	t->losses++;
}

void bsv_timeline_focus(struct bsv_timeline *t, const char *name, enum bsv_state state, int64_t began, int64_t ended)
{
	if (!t || t->failed)
		return;
	if (!t->focus)
		t->focus = strdup(name);
	t->failed |= !t->focus;
	if (!t->failed && is_inside(t, began, ended))
		bsv_cover_add(t->states[state], &t->span, began, ended);
}
