/* execution.c -- packs executions into rows of their table, and unpacks them. */
#include "store/execution.h"

#include "store/numbers.h"
#include "store/own.h"
#include "store/pages.h"
#include "store/sort.h"
#include "store/tally.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Phases and the whole as the views make them of the boundaries of a plain one. */
static bool is_plain(const struct bsa_execution *x, const int64_t at[BSA_BOUNDARIES], const int64_t phase[BSA_PHASES])
{
	bool fenced = x->path == BSA_PATH_FENCED;
	int64_t ready_from = at[fenced ? BSA_FENCED : BSA_DECODED];
	int64_t start = at[x->sides == BSA_SIDES_SERVICE ? BSA_REQUEST_READ : BSA_SUBMITTED];
	int64_t end = at[fenced && x->sides != BSA_SIDES_CLIENT ? BSA_SIGNALLED
	                 : x->sides == BSA_SIDES_SERVICE        ? BSA_RESULT_WRITTEN
	                                                        : BSA_RETURNED];

	return phase[BSA_PREPARE] == sql_minus(at[BSA_REQUEST_WRITTEN], at[BSA_SUBMITTED]) &&
	       phase[BSA_SEND] == sql_minus(at[BSA_REQUEST_READ], at[BSA_REQUEST_WRITTEN]) &&
	       phase[BSA_DECODE] == sql_minus(at[BSA_DECODED], at[BSA_REQUEST_READ]) &&
	       phase[BSA_FENCE] == (fenced ? sql_minus(at[BSA_FENCED], at[BSA_DECODED]) : 0) &&
	       phase[BSA_SLOTS] == sql_minus(at[BSA_ENQUEUED], ready_from) &&
	       phase[BSA_QUEUE] == sql_minus(at[BSA_DISPATCHED], at[BSA_ENQUEUED]) &&
	       phase[BSA_RUN] == sql_minus(sql_minus(at[BSA_RUN_ENDED], at[BSA_DISPATCHED]), phase[BSA_PREEMPTED]) &&
	       phase[BSA_REPLY] == (fenced ? 0 : sql_minus(at[BSA_RESULT_WRITTEN], at[BSA_RUN_ENDED])) &&
	       phase[BSA_RETURN] == (fenced ? 0 : sql_minus(at[BSA_RESULT_READ], at[BSA_RESULT_WRITTEN])) &&
	       phase[BSA_FINISH] == (fenced ? 0 : sql_minus(at[BSA_RETURNED], at[BSA_RESULT_READ])) &&
	       phase[BSA_SIGNAL] == (fenced ? sql_minus(at[BSA_SIGNALLED], at[BSA_RUN_ENDED]) : 0) &&
	       sql_ns(x->e2e) == sql_minus(end, start);
}

/* A row without any number has no more to tell than none. */
static bool knows_a_phase(const int64_t phase[BSA_PHASES], uint64_t e2e)
{
	for (unsigned i = 0; i < BSA_PHASES; i++)
		if (phase[i] != NOTHING)
			return true;
	return sql_ns(e2e) != NOTHING;
}

/* ---- the window ---- */

enum { WINDOW = 1024 };

struct window {
	struct row_execution rows[WINDOW];
	uint16_t order[WINDOW]; /* the indices of the @n rows, by id; then those of the free ones */
	unsigned n;
};

struct window *bsa_window_new(void)
{
	struct window *w = malloc(sizeof(*w));

	if (!w)
		return NULL;
	w->n = 0;
	for (unsigned i = 0; i < WINDOW; i++)
		w->order[i] = (uint16_t)i;
	return w;
}

struct window *bsa_window_free(struct window *w)
{
	free(w);
	return NULL;
}

/* The first @n rows. */
static void let_go(struct bsa_store *s, unsigned n)
{
	struct window *w = s->window;
	struct row_execution *late;
	uint16_t gone[WINDOW];

	assert(n <= w->n && w->n <= WINDOW);
	for (unsigned i = 0; i < n && !s->code; i++) {
		const struct row_execution *row = &w->rows[w->order[i]];

		if (row->id > bsa_pages_last(s->pages)) {
			uint64_t stream = row->stream_id == NOTHING ? 0 : (uint64_t)row->stream_id;

			/* Put the row into the index that goes with pages, too. A NULL stream sorts first. */
			if (bsa_pages_row(s->pages, &row->id))
				bsa_store_fail(s, BSA_E_ENV, "cannot write a scratch file beside %s: %s",
				               s->file.output, bsa_pages_error(s->pages));
			else if (bsa_sort_add(s->by_seq, (struct bsa_sort_pair){ stream << 32 | (uint64_t)row->seq,
			                                                         (uint64_t)row->id }))
				bsa_store_fail(s, BSA_E_ENV, "cannot write a scratch file beside %s: %s",
				               s->file.output, strerror(errno));
		} else {
			late = bsa_batch_row(s, BATCH_execution);
			if (late)
				*late = *row;
		}
	}
	memcpy(gone, w->order, n * sizeof(*gone));
	memmove(w->order, w->order + n, (w->n - n) * sizeof(*gone));
	w->n -= n;
	memcpy(w->order + w->n, gone, n * sizeof(*gone));
}

void bsa_window_empty(struct bsa_store *s)
{
	if (s->pages)
		let_go(s, s->window->n);
}

/* Room for the row of @id; few are there that come after it. */
static struct row_execution *window_row(struct bsa_store *s, int64_t id)
{
	struct window *w = s->window;
	unsigned at;
	uint16_t row;

	if (w->n == WINDOW)
		let_go(s, WINDOW / 2);
	row = w->order[w->n];
	for (at = w->n++; at > 0 && w->rows[w->order[at - 1]].id > id; at--)
		w->order[at] = w->order[at - 1];
	w->order[at] = row;
	return &w->rows[row];
}

/* ---- an execution ---- */

static void fill_row(const struct bsa_store *s, const struct bsa_execution *x, const int64_t at[BSA_BOUNDARIES],
                     int64_t preempted, bool plain, struct row_execution *row)
{
	int64_t flags =
		PACK(execution, .path = x->path, .priority = x->priority, .fallback = x->fallback, .status = x->status,
	             .miss = x->miss, .quality = x->quality, .sides = x->sides, .cold = x->cold, .lane = x->lane,
	             .idle = x->idle, .plain = plain, .fence_free = x->fence_free);
	int64_t base = NOTHING;

	for (unsigned i = 0; i < BSA_BOUNDARIES && base == NOTHING; i++) /* the first one known */
		base = at[i];
	base = base == NOTHING ? 0 : base;

	FILL_ROW(row, execution, .id = sql_id(x->id), .flags = flags, .base = base, .trace_id = sql_id(x->trace),
	         .stream_id = sql_id(x->stream), .seq = (int64_t)(x->exec & UINT32_MAX), .app_id = sql_id(x->app),
	         .model_id = sql_id(x->model), .submitted = sql_minus(at[BSA_SUBMITTED], base),
	         .request_written = sql_minus(at[BSA_REQUEST_WRITTEN], base),
	         .request_read = sql_minus(at[BSA_REQUEST_READ], base), .decoded = sql_minus(at[BSA_DECODED], base),
	         .fenced = sql_minus(at[BSA_FENCED], base), .enqueued = sql_minus(at[BSA_ENQUEUED], base),
	         .dispatched = sql_minus(at[BSA_DISPATCHED], base), .run_ended = sql_minus(at[BSA_RUN_ENDED], base),
	         .result_written = sql_minus(at[BSA_RESULT_WRITTEN], base),
	         .result_read = sql_minus(at[BSA_RESULT_READ], base), .returned = sql_minus(at[BSA_RETURNED], base),
	         .signalled = sql_minus(at[BSA_SIGNALLED], base), .preempted_ns = preempted,
	         .redo_ns = sql_in_range(sql_ns(x->redo)), .cpu_ns = sql_ns(x->cpu),
	         .request_blocked_ns = sql_ns(x->request.blocked), .request_spun_ns = sql_ns(x->request.spun),
	         .request_slept_ns = sql_ns(x->request.slept), .result_blocked_ns = sql_ns(x->result.blocked),
	         .result_spun_ns = sql_ns(x->result.spun), .result_slept_ns = sql_ns(x->result.slept),
	         .slot_lookups = sql_event_count(x->lookups), .slot_misses = sql_event_count(x->misses),
	         .preemptions = sql_event_count(x->preemptions), .bypassed = sql_event_count(x->bypassed),
	         .deadline = x->deadline ? sql_minus(sql_time(s->offset, x->deadline), base) : NOTHING,
	         .decode_delay_ns = sql_ns(x->delay[BSA_DELAY_DECODE]), .run_delay_ns = sql_ns(x->delay[BSA_DELAY_RUN]),
	         .reply_delay_ns = sql_ns(x->delay[BSA_DELAY_REPLY]), .floor_ns = x->floor ? sql_ns(x->floor) : NOTHING,
	         .reference_ns = x->reference ? sql_ns(x->reference) : NOTHING);
}

void bsa_execution_store(struct bsa_store *s, const struct bsa_execution *x)
{
	int64_t at[BSA_BOUNDARIES], phase[BSA_PHASES];
	struct row_execution *row;
	bool plain;

	for (unsigned i = 0; i < BSA_BOUNDARIES; i++)
		at[i] = sql_time(s->offset, x->at[i]);
	for (unsigned i = 0; i < BSA_PHASES; i++)
		phase[i] = sql_ns(x->phase[i]);
	if (bsa_tally_add(s->tally, x, at))
		bsa_store_fail(s, BSA_E_ENV, "no memory");
	plain = is_plain(x, at, phase);
	row = s->pages ? window_row(s, sql_id(x->id)) : bsa_batch_row(s, BATCH_execution);
	if (!row)
		return;
	fill_row(s, x, at, phase[BSA_PREEMPTED], plain, row);
	if (!plain && knows_a_phase(phase, x->e2e))
		ROW(s, phases, .execution_id = sql_id(x->id), .prepare_ns = phase[BSA_PREPARE],
		    .send_ns = phase[BSA_SEND], .decode_ns = phase[BSA_DECODE], .fence_ns = phase[BSA_FENCE],
		    .slots_ns = phase[BSA_SLOTS], .queue_ns = phase[BSA_QUEUE], .run_ns = phase[BSA_RUN],
		    .preempted_ns = phase[BSA_PREEMPTED], .reply_ns = phase[BSA_REPLY], .return_ns = phase[BSA_RETURN],
		    .finish_ns = phase[BSA_FINISH], .signal_ns = phase[BSA_SIGNAL], .e2e_ns = sql_ns(x->e2e));
	if (x->duration && x->path == BSA_PATH_FENCED)
		ROW(s, duration, .execution_id = sql_id(x->id), .duration_ns = sql_ns(x->duration));
	if (x->miss != BSA_MISS_NONE)
		ROW(s, missed, .execution_id = sql_id(x->id), .missed_at = sql_time(s->offset, x->missed_at),
		    .lateness_ns = sql_lateness(x->lateness), .estimate_ns = sql_ns(x->estimate),
		    .submit_delay_ns = x->submit_turns ? sql_ns(x->submit_delay) : NOTHING,
		    .submit_gap_ns = x->submit_turns ? sql_ns(x->submit_gap) : NOTHING,
		    .submit_turns = x->submit_turns ? (int64_t)x->submit_turns : NOTHING);
}
