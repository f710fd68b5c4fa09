/*
 * executions.h -- reads the executions of a database one after the other, for answers that read all of them. For each
 * row of the view execution, SQLite runs some 400 instructions of its own, most of them to unpack what is packed;
 * here it runs 30.
 */
#ifndef BSA_EXECUTIONS_H
#define BSA_EXECUTIONS_H

#include "bsa/db.h"

#define BSA_NULL_INT INT64_MIN /* NULL */

/* The columns of the view execution that have these names; texts are borrowed for good. */
struct bsa_execution_row {
	int64_t id, trace_id, app_id, model_id;
	const char *path, *priority, *status, *miss, *quality, *sides; /* NULL: NULL */
	int64_t cold;                                                  /* 1, 0, or BSA_NULL_INT */
	bool complete;
	/* ns; BSA_NULL_INT: NULL */
	int64_t submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, run_ended,
		result_written, result_read, returned, signalled;
	int64_t began; /* no column: the first of these that is known, or else missed_at */
	int64_t deadline, e2e_ns, prepare_ns, send_ns, decode_ns, fence_ns, slots_ns, queue_ns, run_ns, preempted_ns,
		reply_ns, return_ns, finish_ns, signal_ns;
	int64_t redo_ns, cpu_ns, request_spun_ns, run_delay_ns, reference_ns;
	int64_t lane, preemptions;
	int64_t exec, missed_at, lateness_ns; /* only where asked for */
};

struct bsa_executions;

/*
 * @picked: a query of one column, the ids of the executions to read; NULL: all of them. @more: whether the columns that
 * other tables have are asked for, too. *ret is owned by the caller,
 * and is to be freed before @db is closed. Errors are those of bsa_query_new.
 */
int bsa_executions_new(struct bsa_executions **ret, struct bsa_db *db, const char *picked, bool more,
                       struct bsa_err *err);

/* NULL is fine. Returns NULL. */
struct bsa_executions *bsa_executions_free(struct bsa_executions *e);

/* Read the next execution, in the order of their ids. 1: *ret is set; 0: no more. Negative: an error. */
int bsa_executions_step(struct bsa_executions *e, struct bsa_execution_row *ret, struct bsa_err *err);

#endif
