-- Executions, packed: what takes no room where nothing happened. The views unpack them.
-- base is the first time that is known, and everything that is a time is so long after base. flags, from bit 0: path 3,
-- priority 2, fallback 2, status 4, miss 2, quality 3, sides 2, cold 2, lane 7, idle 1, plain 1; all ones is unknown. Of a plain
-- one every phase is what lies between its boundaries; of others stored_phases has them.
CREATE TABLE stored_execution(
	id INTEGER PRIMARY KEY, flags INTEGER, base INTEGER, trace_id INTEGER, stream_id INTEGER, seq INTEGER, app_id
	INTEGER, model_id INTEGER, submitted INTEGER, request_written INTEGER, request_read INTEGER, decoded INTEGER,
	fenced INTEGER, enqueued INTEGER, dispatched INTEGER, run_ended INTEGER, result_written INTEGER, result_read
	INTEGER, returned INTEGER, signalled INTEGER, preempted_ns INTEGER, redo_ns INTEGER, cpu_ns INTEGER,
	request_blocked_ns INTEGER, request_spun_ns INTEGER, request_slept_ns INTEGER, result_blocked_ns INTEGER,
	result_spun_ns INTEGER, result_slept_ns INTEGER, slot_lookups INTEGER, slot_misses INTEGER, preemptions INTEGER,
	bypassed INTEGER, deadline INTEGER);

CREATE TABLE stored_phases(
	execution_id INTEGER PRIMARY KEY, prepare_ns INTEGER, send_ns INTEGER, decode_ns INTEGER, fence_ns INTEGER,
	slots_ns INTEGER, queue_ns INTEGER, run_ns INTEGER, preempted_ns INTEGER, reply_ns INTEGER, return_ns INTEGER,
	finish_ns INTEGER, signal_ns INTEGER, e2e_ns INTEGER);

CREATE TABLE stored_count(
	app_id INTEGER, model_id INTEGER, priority INTEGER, path INTEGER, status INTEGER, miss INTEGER, quality INTEGER, sides
	INTEGER, n INTEGER, deadlines INTEGER, worst_ns INTEGER);
CREATE TABLE id_block(first_id INTEGER, last_id INTEGER, began INTEGER, ended INTEGER);

CREATE TABLE stored_missed(
	execution_id INTEGER PRIMARY KEY, missed_at INTEGER, lateness_ns INTEGER, estimate_ns INTEGER);

CREATE TABLE stored_slice(
	id INTEGER PRIMARY KEY, execution_id INTEGER, began INTEGER, dur_ns INTEGER, trace_id INTEGER, instance INTEGER,
	lane INTEGER);

-- bits: kind 1, lane 8, occupancy 2, cause 5.
CREATE TABLE stored_wait(
	id INTEGER PRIMARY KEY, execution_id INTEGER, began INTEGER, dur_ns INTEGER, blocker_id INTEGER, blocker_app_id INTEGER,
	bits INTEGER);

CREATE TABLE stored_preemption(
	execution_id INTEGER, by_execution_id INTEGER, asked INTEGER, stopped INTEGER, resumed INTEGER, at_op INTEGER,
	mode INTEGER, lane INTEGER, redo_ns INTEGER);
CREATE TABLE stored_deadline_miss(
	trace_id INTEGER, execution_id INTEGER, model_id INTEGER, at INTEGER, kind INTEGER, stage INTEGER, deadline
	INTEGER, estimate_ns INTEGER, over_ns INTEGER);
CREATE TABLE stored_refusal(
	execution_id INTEGER PRIMARY KEY, lane_free INTEGER, holder_id INTEGER, holder_app_id INTEGER, holder_cause
	INTEGER);
CREATE TABLE stored_exhausted(
	trace_id INTEGER, owner INTEGER, owner_id INTEGER, execution_id INTEGER, model_id INTEGER, app_id INTEGER, at
	INTEGER, kind INTEGER, resource INTEGER, asked INTEGER, limit_value INTEGER);

CREATE TABLE stored_phase(number INTEGER PRIMARY KEY, name TEXT);
INSERT INTO stored_phase
	WITH RECURSIVE p(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM p WHERE n < 11) SELECT n, @phase n@ FROM p;

INSERT INTO schema_doc VALUES
('id_block', '', '', 'block of executions with adjacent ids: where to look for those of some time'),
('id_block', 'first_id', 'id', 'execution.id of the first'),
('id_block', 'last_id', 'id', 'execution.id of the last; not all between must be there'),
('id_block', 'began', 'time', 'the first known time of any of them'),
('id_block', 'ended', 'time', 'the last known time of any of them');
