/*
 * executions.c -- reads rows of stored_execution, and unpacks them as the views stored_unpacked and execution do.
 * Phases and misses that have rows of their own are looked up for the few executions that have them.
 */
#include "bsa/executions.h"

#include "store/relations.h"

#include <stdio.h>
#include <stdlib.h>

#define REL_NAME(labels, name, number) [number] = #name,
#define REL_LABELS(labels, names) static const char *const of_##labels[] __attribute__((unused)) = { names };
#include "store/labels.def"

static_assert(BSA_NULL_INT == NOTHING, "the same number is NULL");

/* The columns that are read, after the id. */
/* clang-format off */
#define EXECUTION_COLUMNS(COLUMN) \
	COLUMN(flags) COLUMN(base) COLUMN(trace_id) COLUMN(app_id) \
	COLUMN(model_id) COLUMN(submitted) COLUMN(request_written) COLUMN(request_read) \
	COLUMN(decoded) COLUMN(fenced) COLUMN(enqueued) COLUMN(dispatched) \
	COLUMN(run_ended) COLUMN(result_written) COLUMN(result_read) COLUMN(returned) \
	COLUMN(signalled) COLUMN(preempted_ns) COLUMN(redo_ns) COLUMN(cpu_ns) \
	COLUMN(request_spun_ns) COLUMN(deadline) COLUMN(run_delay_ns) COLUMN(reference_ns) \
	COLUMN(preemptions)
/* clang-format on */
#define PHASE_COLUMNS(COLUMN) \
	COLUMN(e2e_ns)        \
	COLUMN(prepare_ns)    \
	COLUMN(send_ns)       \
	COLUMN(decode_ns)     \
	COLUMN(fence_ns)      \
	COLUMN(slots_ns)      \
	COLUMN(queue_ns) COLUMN(run_ns) COLUMN(reply_ns) COLUMN(return_ns) COLUMN(finish_ns) COLUMN(signal_ns)

/* After those: of other tables, and what the view makes exec of. */
#define MORE_COLUMNS ", x.seq, s.number, m.missed_at, m.lateness_ns"
#define MORE_TABLES \
	" LEFT JOIN stored_stream s ON s.id = x.stream_id LEFT JOIN stored_missed m ON m.execution_id = x.id"

#define LISTED(name) ", x." #name
#define READ(name) row.name = cell(q, at++);

struct bsa_executions {
	struct bsa_db *db;
	/* rows: of executions; phases, missed: of the execution :id, made when the first one is asked for */
	struct bsa_query *rows, *phases, *missed;
	bool more; /* rows have the columns of MORE_COLUMNS, too */
};

/* ---- numbers ---- */

static int64_t cell(const struct bsa_query *q, size_t column)
{
	int64_t value;

	return bsa_query_read_int(&value, q, column) ? value : NOTHING;
}

/* A sum that is out of range is what SQLite would make of it, where it is read as an integer. */
static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	if (a == NOTHING || b == NOTHING)
		return NOTHING;
	if (__builtin_add_overflow(a, b, &sum) || sum == NOTHING)
		return a < 0 ? NOTHING + 1 : INT64_MAX;
	return sum;
}

static int64_t minus(int64_t a, int64_t b)
{
	return b == NOTHING ? NOTHING : plus(a, -b);
}

/* NULL: the number has no name. */
#define LABEL_OF(labels, number) \
	((size_t)(number) < sizeof(of_##labels) / sizeof(*of_##labels) ? of_##labels[number] : NULL)

/* ---- rows ---- */

/* Step *query, which is @sql, to the row of the execution @id. 1: there is one; 0: none. Negative: an error. */
static int row_seek(struct bsa_query **query, struct bsa_db *db, const char *sql, int64_t id, struct bsa_err *err)
{
	int r = *query ? 0 : bsa_query_new(query, db, sql, err);

	if (r < 0)
		return r;
	bsa_query_again(*query);
	bsa_query_int(*query, ":id", id);
	return bsa_query_step(*query, err);
}

/* The phases of an execution whose phases do not follow from its boundaries; without a row, none is known. */
static int phases_seek(struct bsa_executions *e, struct bsa_execution_row *ret, struct bsa_err *err)
{
	static const char sql[] =
		"SELECT execution_id" PHASE_COLUMNS(LISTED) " FROM stored_phases x WHERE execution_id = :id";
	int r = row_seek(&e->phases, e->db, sql, ret->id, err);
	size_t at = 1;

#define FOUND(name) ret->name = r > 0 ? cell(e->phases, at++) : NOTHING;
	PHASE_COLUMNS(FOUND)
#undef FOUND
	return r < 0 ? r : 0;
}

/* The phases of an execution that are all times between two boundaries. */
static void phases_set(struct bsa_execution_row *x, const struct bits_execution *bits)
{
	bool fenced = bits->path == LABEL_path_fenced, service = bits->sides == LABEL_sides_service;
	bool signals = fenced && bits->sides != LABEL_sides_client;
	int64_t end = signals ? x->signalled : service ? x->result_written : x->returned;

	x->e2e_ns = minus(end, service ? x->request_read : x->submitted);
	x->prepare_ns = minus(x->request_written, x->submitted);
	x->send_ns = minus(x->request_read, x->request_written);
	x->decode_ns = minus(x->decoded, x->request_read);
	x->fence_ns = fenced ? minus(x->fenced, x->decoded) : 0;
	x->slots_ns = minus(x->enqueued, fenced ? x->fenced : x->decoded);
	x->queue_ns = minus(x->dispatched, x->enqueued);
	x->run_ns = minus(minus(x->run_ended, x->dispatched), x->preempted_ns);
	x->reply_ns = fenced ? 0 : minus(x->result_written, x->run_ended);
	x->return_ns = fenced ? 0 : minus(x->result_read, x->result_written);
	x->finish_ns = fenced ? 0 : minus(x->returned, x->result_read);
	x->signal_ns = fenced ? minus(x->signalled, x->run_ended) : 0;
}

/* Negative: an error. */
static int row_unpack(struct bsa_executions *e, struct bsa_execution_row *ret, struct bsa_err *err)
{
	const struct bsa_query *q = e->rows;
	struct row_execution row = { .id = cell(q, 0) };
	struct bits_execution bits;
	size_t at = 1;
	int r = 0;

	EXECUTION_COLUMNS(READ)
	bits = unpack_execution(row.flags);
	*ret = (struct bsa_execution_row){
		.id = row.id,
		.trace_id = row.trace_id,
		.app_id = row.app_id,
		.model_id = row.model_id,
		.path = LABEL_OF(path, bits.path),
		.priority = LABEL_OF(priority, bits.priority),
		.status = LABEL_OF(status, bits.status),
		.miss = LABEL_OF(miss, bits.miss),
		.quality = LABEL_OF(quality, bits.quality),
		.sides = LABEL_OF(sides, bits.sides),
		.cold = bits.cold > 1 ? NOTHING : bits.cold,
		.complete = bits.quality == LABEL_quality_complete && bits.path != LABEL_path_prepare,
		.submitted = plus(row.base, row.submitted),
		.request_written = plus(row.base, row.request_written),
		.request_read = plus(row.base, row.request_read),
		.decoded = plus(row.base, row.decoded),
		.fenced = plus(row.base, row.fenced),
		.enqueued = plus(row.base, row.enqueued),
		.dispatched = plus(row.base, row.dispatched),
		.run_ended = plus(row.base, row.run_ended),
		.result_written = plus(row.base, row.result_written),
		.result_read = plus(row.base, row.result_read),
		.returned = plus(row.base, row.returned),
		.signalled = plus(row.base, row.signalled),
		.deadline = plus(row.base, row.deadline),
		.preempted_ns = row.preempted_ns,
		.redo_ns = row.redo_ns,
		.cpu_ns = row.cpu_ns,
		.request_spun_ns = row.request_spun_ns,
		.run_delay_ns = row.run_delay_ns,
		.reference_ns = row.reference_ns,
		.lane = bits.lane == ALL_execution_lane ? NOTHING : bits.lane,
		.preemptions = row.preemptions,
		.exec = NOTHING,
		.missed_at = NOTHING,
		.lateness_ns = NOTHING,
	};
	const int64_t boundaries[] = { ret->submitted,      ret->request_written, ret->request_read, ret->decoded,
		                       ret->fenced,         ret->enqueued,        ret->dispatched,   ret->run_ended,
		                       ret->result_written, ret->result_read,     ret->returned,     ret->signalled };

	if (e->more) {
		int64_t seq = cell(q, at), number = cell(q, at + 1);

		if (seq != NOTHING && number != NOTHING)
			ret->exec = (int64_t)((uint64_t)number << 32) | seq;
		if (bits.miss) {
			ret->missed_at = cell(q, at + 2);
			ret->lateness_ns = cell(q, at + 3);
		}
	}
	ret->began = NOTHING;
	for (size_t i = sizeof(boundaries) / sizeof(*boundaries); i--;)
		ret->began = boundaries[i] != NOTHING ? boundaries[i] : ret->began;
	if (bits.plain)
		phases_set(ret, &bits);
	else
		r = phases_seek(e, ret, err);
	if (r >= 0 && ret->began == NOTHING && bits.miss) { /* when it was reported as a miss, if that is known */
		r = row_seek(&e->missed, e->db, "SELECT missed_at FROM stored_missed WHERE execution_id = :id", ret->id,
		             err);
		ret->began = r > 0 ? cell(e->missed, 0) : NOTHING;
	}
	return r;
}

int bsa_executions_step(struct bsa_executions *e, struct bsa_execution_row *ret, struct bsa_err *err)
{
	int r = bsa_query_step(e->rows, err), s = r > 0 ? row_unpack(e, ret, err) : 0;

	return s < 0 ? s : r;
}

int bsa_executions_new(struct bsa_executions **ret, struct bsa_db *db, const char *picked, bool more,
                       struct bsa_err *err)
{
	static const char columns[] = "SELECT x.id" EXECUTION_COLUMNS(LISTED);
	struct bsa_executions *e = calloc(1, sizeof(*e));
	char *sql = NULL;
	int r = 0;

	if (!e || asprintf(&sql, "%s%s FROM stored_execution x%s%s%s%s ORDER BY x.id", columns,
	                   more ? MORE_COLUMNS : "", more ? MORE_TABLES : "", picked ? " WHERE x.id IN (" : "",
	                   picked ? picked : "", picked ? ")" : "") < 0)
		r = bsa_fail(err, BSA_E_ENV, "no memory");
	if (!r) {
		e->db = db;
		e->more = more;
		r = bsa_query_new(&e->rows, db, sql, err);
		free(sql);
	}
	if (r < 0) {
		bsa_executions_free(e);
		return r;
	}
	*ret = e;
	return 0;
}

struct bsa_executions *bsa_executions_free(struct bsa_executions *e)
{
	if (!e)
		return NULL;
	bsa_query_free(e->rows);
	bsa_query_free(e->phases);
	bsa_query_free(e->missed);
	free(e);
	return NULL;
}
