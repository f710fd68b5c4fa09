/* execution.c -- see execution.h. */
#include "store/execution.h"

#include "store/numbers.h"
#include "store/own.h"
#include "store/pages.h"
#include "store/sort.h"
#include "store/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Columns that are asked for here. */
enum { STREAM = 4, SEQ = 5 };

/* Bits of flags, as views/unpacked.sql and views/execution.sql take them apart. */
enum {
	PATH_AT = 0,
	PRIORITY_AT = 3,
	FALLBACK_AT = 5,
	STATUS_AT = 7,
	MISS_AT = 11,
	QUALITY_AT = 13,
	SIDES_AT = 16,
	COLD_AT = 18,
	LANE_AT = 20,
	IDLE_AT = 27,
	PLAIN_AT = 28
};

/* All ones where it does not fit into @bits. */
static int64_t bits(int64_t v, unsigned n_bits, unsigned at)
{
	int64_t most = (1 << n_bits) - 1;

	return (v < 0 || v > most ? most : v) << at;
}

static int64_t flags_of(const struct bsa_execution *x, bool plain)
{
	return bits(x->path, 3, PATH_AT) | bits(x->priority, 2, PRIORITY_AT) | bits(x->fallback, 2, FALLBACK_AT) |
	       bits(x->status, 4, STATUS_AT) | bits(x->miss, 2, MISS_AT) | bits(x->quality, 3, QUALITY_AT) |
	       bits(x->sides, 2, SIDES_AT) | bits(x->cold, 2, COLD_AT) | bits(x->lane, 7, LANE_AT) |
	       bits(x->idle, 1, IDLE_AT) | bits(plain, 1, PLAIN_AT);
}

/* Phases and the whole as the views make them of the boundaries of a plain one. */
static bool is_plain(const struct bsa_execution *x, const int64_t at[BSA_BOUNDARIES], const int64_t phase[BSA_PHASES])
{
	bool fenced = x->path == BSA_PATH_FENCED;
	int64_t ready_from = at[fenced ? BSA_FENCED : BSA_DECODED];
	int64_t start = at[x->sides == BSA_SIDES_SERVICE ? BSA_REQUEST_READ : BSA_SUBMITTED];
	int64_t end = at[fenced && x->sides != BSA_SIDES_CLIENT ? BSA_SIGNALLED
	                 : x->sides == BSA_SIDES_SERVICE        ? BSA_RESULT_WRITTEN
	                                                        : BSA_RETURNED];

	return phase[BSA_PREPARE] == minus(at[BSA_REQUEST_WRITTEN], at[BSA_SUBMITTED]) &&
	       phase[BSA_SEND] == minus(at[BSA_REQUEST_READ], at[BSA_REQUEST_WRITTEN]) &&
	       phase[BSA_DECODE] == minus(at[BSA_DECODED], at[BSA_REQUEST_READ]) &&
	       phase[BSA_FENCE] == (fenced ? minus(at[BSA_FENCED], at[BSA_DECODED]) : 0) &&
	       phase[BSA_SLOTS] == minus(at[BSA_ENQUEUED], ready_from) &&
	       phase[BSA_QUEUE] == minus(at[BSA_DISPATCHED], at[BSA_ENQUEUED]) &&
	       phase[BSA_RUN] == minus(minus(at[BSA_RUN_ENDED], at[BSA_DISPATCHED]), phase[BSA_PREEMPTED]) &&
	       phase[BSA_REPLY] == (fenced ? 0 : minus(at[BSA_RESULT_WRITTEN], at[BSA_RUN_ENDED])) &&
	       phase[BSA_RETURN] == (fenced ? 0 : minus(at[BSA_RESULT_READ], at[BSA_RESULT_WRITTEN])) &&
	       phase[BSA_FINISH] == (fenced ? 0 : minus(at[BSA_RETURNED], at[BSA_RESULT_READ])) &&
	       phase[BSA_SIGNAL] == (fenced ? minus(at[BSA_SIGNALLED], at[BSA_RUN_ENDED]) : 0) &&
	       ns(x->e2e) == minus(end, start);
}

static int64_t first_known(const int64_t at[BSA_BOUNDARIES])
{
	for (unsigned i = 0; i < BSA_BOUNDARIES; i++)
		if (at[i] != NOTHING)
			return at[i];
	return 0;
}

static void store_phases(struct bsa_store *s, const struct bsa_execution *x, const int64_t phase[BSA_PHASES])
{
	ROW(s, PHASES, ref(x->id), phase[BSA_PREPARE], phase[BSA_SEND], phase[BSA_DECODE], phase[BSA_FENCE],
	    phase[BSA_SLOTS], phase[BSA_QUEUE], phase[BSA_RUN], phase[BSA_PREEMPTED], phase[BSA_REPLY],
	    phase[BSA_RETURN], phase[BSA_FINISH], phase[BSA_SIGNAL], ns(x->e2e));
}

/* ---- the window ---- */

enum { WINDOW = 1024 };

struct window {
	int64_t rows[WINDOW][EXECUTION_COLUMNS];
	uint16_t order[WINDOW]; /* of the @n rows that are there, by id; then those that are free */
	unsigned n;
};

struct window *window_new(void)
{
	struct window *w = malloc(sizeof(*w));

	if (!w)
		return NULL;
	w->n = 0;
	for (unsigned i = 0; i < WINDOW; i++)
		w->order[i] = (uint16_t)i;
	return w;
}

struct window *window_free(struct window *w)
{
	free(w);
	return NULL;
}

/* And into the index that pages have: no stream is less than any. */
static void into_pages(struct bsa_store *s, const int64_t *row)
{
	uint64_t stream = row[STREAM] == NOTHING ? 0 : (uint64_t)row[STREAM];

	if (pages_row(s->pages, row))
		store_fail(s, BSA_E_ENV, "cannot write a scratch file beside %s: %s", s->file.output,
		           pages_error(s->pages));
	else if (sort_add(s->by_seq, (struct pair){ stream << 32 | (uint64_t)row[SEQ], (uint64_t)row[0] }))
		store_fail(s, BSA_E_ENV, "cannot write a scratch file beside %s: %s", s->file.output, strerror(errno));
}

static void put_aside(struct bsa_store *s, const int64_t *row)
{
	int64_t *late = batch_row(s, BATCH_EXECUTION, EXECUTION_COLUMNS);

	if (late)
		memcpy(late, row, EXECUTION_COLUMNS * sizeof(*row));
}

/* The first @n rows. */
static void let_go(struct bsa_store *s, unsigned n)
{
	struct window *w = s->window;
	uint16_t gone[WINDOW];

	for (unsigned i = 0; i < n && !s->code; i++) {
		const int64_t *row = w->rows[w->order[i]];

		if (row[0] > pages_last(s->pages))
			into_pages(s, row);
		else
			put_aside(s, row);
	}
	memcpy(gone, w->order, n * sizeof(*gone));
	memmove(w->order, w->order + n, (w->n - n) * sizeof(*gone));
	w->n -= n;
	memcpy(w->order + w->n, gone, n * sizeof(*gone));
}

void window_empty(struct bsa_store *s)
{
	if (s->pages)
		let_go(s, s->window->n);
}

/* Room for the row of @id; few are there that come after it. */
static int64_t *window_row(struct bsa_store *s, int64_t id)
{
	struct window *w = s->window;
	unsigned at;
	uint16_t row;

	if (w->n == WINDOW)
		let_go(s, WINDOW / 2);
	row = w->order[w->n];
	for (at = w->n++; at > 0 && w->rows[w->order[at - 1]][0] > id; at--)
		w->order[at] = w->order[at - 1];
	w->order[at] = row;
	return w->rows[row];
}

/* ---- an execution ---- */

static void fill(const struct bsa_store *s, const struct bsa_execution *x, const int64_t at[BSA_BOUNDARIES],
                 int64_t preempted, bool plain, int64_t *row)
{
	int64_t base = first_known(at);

	*row++ = ref(x->id);
	*row++ = flags_of(x, plain);
	*row++ = base;
	*row++ = ref(x->trace);
	*row++ = ref(x->stream);
	*row++ = (int64_t)(x->exec & UINT32_MAX);
	*row++ = ref(x->app);
	*row++ = ref(x->model);
	for (unsigned i = 0; i < BSA_BOUNDARIES; i++)
		*row++ = minus(at[i], base);
	*row++ = preempted;
	*row++ = ns(x->redo);
	*row++ = ns(x->cpu);
	*row++ = ns(x->request.blocked);
	*row++ = ns(x->request.spun);
	*row++ = ns(x->request.slept);
	*row++ = ns(x->result.blocked);
	*row++ = ns(x->result.spun);
	*row++ = ns(x->result.slept);
	*row++ = x->lookups;
	*row++ = x->misses;
	*row++ = x->preemptions;
	*row++ = x->bypassed;
	*row++ = x->deadline ? minus(when(s->offset, x->deadline), base) : NOTHING;
}

void execution_store(struct bsa_store *s, const struct bsa_execution *x)
{
	int64_t at[BSA_BOUNDARIES], phase[BSA_PHASES], *row;
	bool plain;

	for (unsigned i = 0; i < BSA_BOUNDARIES; i++)
		at[i] = when(s->offset, x->at[i]);
	for (unsigned i = 0; i < BSA_PHASES; i++)
		phase[i] = ns(x->phase[i]);
	if (tally_add(s->tally, x, at))
		store_fail(s, BSA_E_ENV, "no memory");
	plain = is_plain(x, at, phase);
	row = s->pages ? window_row(s, ref(x->id)) : batch_row(s, BATCH_EXECUTION, EXECUTION_COLUMNS);
	if (!row)
		return;
	fill(s, x, at, phase[BSA_PREEMPTED], plain, row);
	if (!plain)
		store_phases(s, x, phase);
	if (x->miss != BSA_MISS_NONE)
		ROW(s, MISSED, ref(x->id), when(s->offset, x->missed_at), bounded(x->lateness), ns(x->estimate));
}
