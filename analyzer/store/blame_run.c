/* blame_run.c -- see blame_run.h; the arithmetic is that of fold/blame.h. */
#include "store/blame_run.h"

#include "fold/blame.h"
#include "store/numbers.h"
#include "store/own.h"

#include <stdlib.h>
#include <string.h>

/* What is asked for each missed execution. Times in the file are signed; as long as they are compared with each other only,
 * any shift will do: half of the range makes them as good as raw ones. */
#define SHIFT (UINT64_C(1) << 62)

enum question { MISSED, WAITS, PREEMPTIONS, SLICES, REFUSAL, TYPICAL, ESTIMATE, HOLDER, QUESTIONS };

static const char *const sql[QUESTIONS] = {
	[MISSED] =
		"SELECT x.id, x.path, x.flags >> 3 & 3, x.flags >> 7 & 15, x.flags >> 11 & 3, x.flags >> 13 & 7,"
		" x.flags >> 16 & 3, x.flags >> 18 & 3, x.lane, x.idle, x.submitted, x.request_written, x.request_read,"
		" x.decoded, x.fenced, x.enqueued, x.dispatched, x.run_ended, x.result_written, x.result_read, "
		"x.returned,"
		" x.signalled, x.prepare_ns, x.send_ns, x.decode_ns, x.fence_ns, x.slots_ns, x.queue_ns, x.run_ns,"
		" x.preempted_ns, x.reply_ns, x.return_ns, x.finish_ns, x.signal_ns, x.e2e_ns, x.redo_ns, x.cpu_ns,"
		" x.request_blocked_ns, x.request_spun_ns, x.request_slept_ns, x.result_blocked_ns, x.result_spun_ns,"
		" x.result_slept_ns, x.slot_lookups, x.slot_misses, x.preemptions, x.bypassed, x.deadline, x.app_id,"
		" x.model_id, m.missed_at, m.lateness_ns, m.estimate_ns"
		" FROM stored_missed m CROSS JOIN stored_unpacked x ON x.id = m.execution_id WHERE m.execution_id >= ?"
		" ORDER BY m.execution_id",
	[WAITS] =
		"SELECT began, began + dur_ns, blocker_id, blocker_app_id, bits FROM stored_wait WHERE execution_id = ?"
		" ORDER BY began",
	[PREEMPTIONS] =
		"SELECT by_execution_id, asked, stopped, resumed, at_op, mode, lane, redo_ns FROM stored_preemption"
		" WHERE execution_id = ? ORDER BY stopped",
	[SLICES] =
		"SELECT began, began + dur_ns, instance, lane FROM stored_slice WHERE execution_id = ? ORDER BY began",
	[REFUSAL] =
		"SELECT lane_free, holder_id, holder_app_id, holder_cause FROM stored_refusal WHERE execution_id = ?",
	[TYPICAL] = "SELECT phase, n, p50_ns FROM stored_typical WHERE model_id = ? AND path = ?",
	[ESTIMATE] = "SELECT estimate_ns FROM stored_model WHERE id = ?",
	[HOLDER] = "SELECT app_id FROM stored_execution WHERE id = ?",
};

struct run {
	struct bsa_store *s;
	sqlite3_stmt *q[QUESTIONS];
	struct bsa_wait *waits;
	struct bsa_preemption *preemptions;
	struct bsa_slice *slices;
	struct bsa_blamed *blamed;
	size_t waits_room, preemptions_room, slices_room, blamed_room;
};

static void run_fini(struct run *r)
{
	for (unsigned i = 0; i < QUESTIONS; i++)
		sqlite3_finalize(r->q[i]);
	free(r->waits);
	free(r->preemptions);
	free(r->slices);
	free(r->blamed);
}

/* Room for one more than @n. false: no memory, which the store has been told. */
static bool room_for(struct run *r, void **rows, size_t *room, size_t n, size_t bytes)
{
	size_t more = n < 8 ? 16 : 2 * n;
	void *bigger;

	if (n < *room)
		return true;
	bigger = realloc(*rows, more * bytes);
	if (!bigger)
		return store_fail(r->s, BSA_E_ENV, "no memory"), false;
	*rows = bigger;
	*room = more;
	return true;
}

/* ---- columns as the fold had them ---- */

static uint64_t time_in(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? BSA_NEVER
	                                                     : (uint64_t)sqlite3_column_int64(q, column) + SHIFT;
}

static uint64_t ns_in(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? BSA_NEVER : (uint64_t)sqlite3_column_int64(q, column);
}

static uint64_t id_in(sqlite3_stmt *q, int column)
{
	return (uint64_t)sqlite3_column_int64(q, column); /* NULL is 0 */
}

/* A question about @id: its first row is next. */
static sqlite3_stmt *ask(struct run *r, enum question question, uint64_t id)
{
	sqlite3_reset(r->q[question]);
	sqlite3_bind_int64(r->q[question], 1, ref(id));
	return r->q[question];
}

static void read_execution(sqlite3_stmt *q, struct bsa_execution *x)
{
	int c = 0, cold, status;

	*x = (struct bsa_execution){ .id = id_in(q, c++) };
	x->path = (uint8_t)sqlite3_column_int(q, c++);
	x->path = x->path == 7 ? BSA_PATH_UNKNOWN : x->path;
	x->priority = (uint8_t)sqlite3_column_int(q, c++);
	x->priority = x->priority == 3 ? 255 : x->priority;
	status = sqlite3_column_int(q, c++);
	x->status = status == 15 ? BSA_STATUS_UNKNOWN : (uint8_t)status;
	x->miss = (uint8_t)sqlite3_column_int(q, c++);
	x->quality = (uint8_t)sqlite3_column_int(q, c++);
	x->sides = (uint8_t)sqlite3_column_int(q, c++);
	cold = sqlite3_column_int(q, c++);
	x->cold = cold > 1 ? -1 : (int8_t)cold;
	x->lane = sqlite3_column_type(q, c) == SQLITE_NULL ? -1 : (int16_t)sqlite3_column_int(q, c);
	c++;
	x->idle = sqlite3_column_int(q, c++);
	for (unsigned i = 0; i < BSA_BOUNDARIES; i++)
		x->at[i] = time_in(q, c++);
	for (unsigned i = 0; i < BSA_PHASES; i++)
		x->phase[i] = ns_in(q, c++);
	x->run = x->phase[BSA_RUN];
	x->queue = x->phase[BSA_QUEUE];
	x->preempted = x->phase[BSA_PREEMPTED];
	x->slots = x->phase[BSA_SLOTS];
	x->e2e = ns_in(q, c++);
	x->redo = ns_in(q, c++);
	x->cpu = ns_in(q, c++);
	x->request = (struct bsa_waited){ ns_in(q, c), ns_in(q, c + 1), ns_in(q, c + 2) };
	x->result = (struct bsa_waited){ ns_in(q, c + 3), ns_in(q, c + 4), ns_in(q, c + 5) };
	c += 6;
	x->lookups = (uint32_t)sqlite3_column_int64(q, c++);
	x->misses = (uint32_t)sqlite3_column_int64(q, c++);
	x->preemptions = (uint32_t)sqlite3_column_int64(q, c++);
	x->bypassed = (uint32_t)sqlite3_column_int64(q, c++);
	x->deadline = sqlite3_column_type(q, c) == SQLITE_NULL ? 0 : time_in(q, c);
	c++;
	x->app = (uint32_t)id_in(q, c++);
	x->model = (uint32_t)id_in(q, c++);
	x->missed_at = time_in(q, c++);
	x->lateness = sqlite3_column_int64(q, c++);
	x->estimate = ns_in(q, c++);
}

static size_t read_waits(struct run *r, uint64_t id)
{
	sqlite3_stmt *q = ask(r, WAITS, id);
	size_t n = 0;

	while (store_step(r->s, q) && room_for(r, (void **)&r->waits, &r->waits_room, n, sizeof(*r->waits))) {
		unsigned bits = (unsigned)sqlite3_column_int(q, 4);

		r->waits[n++] = (struct bsa_wait){
			.execution = id,
			.began = time_in(q, 0),
			.ended = time_in(q, 1),
			.blocker = id_in(q, 2),
			.blocker_app = (uint32_t)id_in(q, 3),
			.kind = bits & 1,
			.lane = bits >> 1 & 255,
			.occupancy = bits >> 9 & 3,
			.cause = bits >> 11 & 31,
		};
	}
	return n;
}

static size_t read_preemptions(struct run *r, uint64_t id)
{
	sqlite3_stmt *q = ask(r, PREEMPTIONS, id);
	size_t n = 0;

	while (store_step(r->s, q) &&
	       room_for(r, (void **)&r->preemptions, &r->preemptions_room, n, sizeof(*r->preemptions)))
		r->preemptions[n++] = (struct bsa_preemption){
			.execution = id,
			.by = id_in(q, 0),
			.asked = time_in(q, 1),
			.stopped = time_in(q, 2),
			.resumed = time_in(q, 3),
			.at_op = (uint16_t)sqlite3_column_int(q, 4),
			.mode = (uint8_t)sqlite3_column_int(q, 5),
			.lane = (uint8_t)sqlite3_column_int(q, 6),
			.redo = ns_in(q, 7),
		};
	return n;
}

static size_t read_slices(struct run *r, uint64_t id)
{
	sqlite3_stmt *q = ask(r, SLICES, id);
	size_t n = 0;

	while (store_step(r->s, q) && room_for(r, (void **)&r->slices, &r->slices_room, n, sizeof(*r->slices)))
		r->slices[n++] = (struct bsa_slice){
			.execution = id,
			.began = time_in(q, 0),
			.ended = time_in(q, 1),
			.instance = (uint16_t)sqlite3_column_int(q, 2),
			.lane = (uint8_t)sqlite3_column_int(q, 3),
		};
	return n;
}

static bool read_refusal(struct run *r, uint64_t id, struct bsa_refused *ret)
{
	sqlite3_stmt *q = ask(r, REFUSAL, id);
	bool there = store_step(r->s, q);

	if (there)
		*ret = (struct bsa_refused){
			.execution = id,
			.lane_free = time_in(q, 0),
			.holder = id_in(q, 1),
			.holder_app = (uint32_t)id_in(q, 2),
			.holder_cause = (uint8_t)sqlite3_column_int(q, 3),
		};
	sqlite3_reset(q);
	return there;
}

static struct bsa_typical read_typical(struct run *r, const struct bsa_execution *x)
{
	sqlite3_stmt *q = ask(r, TYPICAL, x->model);
	struct bsa_typical ret = { 0 };

	sqlite3_bind_int64(q, 1, x->model);
	sqlite3_bind_int(q, 2, x->path);
	while (store_step(r->s, q)) {
		unsigned phase = (unsigned)sqlite3_column_int(q, 0);

		ret.n = id_in(q, 1);
		if (phase < BSA_PHASES)
			ret.phase[phase] = id_in(q, 2);
	}
	if (ret.n >= BSA_TYPICAL_MIN)
		return ret;
	q = ask(r, ESTIMATE, x->model);
	ret.phase[BSA_RUN] = store_step(r->s, q) ? id_in(q, 0) : 0;
	sqlite3_reset(q);
	return ret;
}

/* ---- into the table ---- */

/* A preemptor that nobody saw on the lane is known by its number only. */
static uint32_t app_of(struct run *r, const struct bsa_blamed *b)
{
	sqlite3_stmt *q;
	uint32_t app;

	if (b->culprit_app || !b->culprit)
		return b->culprit_app;
	q = ask(r, HOLDER, b->culprit);
	app = store_step(r->s, q) ? (uint32_t)id_in(q, 0) : 0;
	sqlite3_reset(q);
	return app;
}

static void insert(struct run *r, uint64_t execution, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct bsa_blamed *b = &r->blamed[i];
		int64_t budget = b->budget_ns == INT64_MIN ? NOTHING : b->budget_ns;

		ROW(r->s, MISS_CAUSE, ref(execution), (int64_t)i, b->cause, ref(b->culprit), ref(app_of(r, b)), budget,
		    b->late_ns, b->saved, b->is_primary);
	}
}

static void blame(struct run *r, const struct bsa_execution *x)
{
	struct bsa_typical typical = read_typical(r, x);
	struct bsa_refused refused;
	struct bsa_missed m = {
		.execution = x,
		.typical = &typical,
		.n_waits = read_waits(r, x->id),
		.n_preemptions = read_preemptions(r, x->id),
		.n_slices = read_slices(r, x->id),
		.refused = read_refusal(r, x->id, &refused) ? &refused : NULL,
	};
	size_t most = BSA_CAUSES + m.n_waits + m.n_preemptions;

	if (r->s->code || !room_for(r, (void **)&r->blamed, &r->blamed_room, most, sizeof(*r->blamed)))
		return;
	m.waits = r->waits;
	m.preemptions = r->preemptions;
	m.slices = r->slices;
	insert(r, x->id, bsa_blame(&m, r->blamed, most));
}

int blame_run(struct bsa_store *s)
{
	__attribute__((cleanup(run_fini))) struct run r = { .s = s };
	struct bsa_execution x;

	for (unsigned i = 0; i < QUESTIONS && !s->code; i++)
		r.q[i] = store_prepare(s, sql[i]);
	if (s->code)
		return s->code;
	sqlite3_bind_int64(r.q[MISSED], 1, ref(s->first_execution));
	while (store_step(s, r.q[MISSED])) {
		read_execution(r.q[MISSED], &x);
		blame(&r, &x);
	}
	return s->code;
}
