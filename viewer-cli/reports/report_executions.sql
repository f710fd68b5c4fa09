-- Executions for the page, ordered by id. began is when an execution began, as early as it was observed; the page has it from the start of the recording on, and
-- the other times from began on: world.c subtracts, because SQLite would compute began anew for each of them.
-- Of an execution that was on its lane once, dispatched, run_ended, lane and instance are its stretch on the lane.
SELECT id, app_id, miss AS miss_word, coalesce(submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, run_ended,
	result_written, result_read, returned, signalled, missed_at, deadline, @began@) AS began, lane, dispatched, run_ended,
	exec >> 52 & 4095 AS instance, model_id,
	coalesce(signalled, returned, result_read, result_written, run_ended, missed_at) AS ended, enqueued, deadline,
	e2e_ns, prepare_ns, send_ns, decode_ns, fence_ns, slots_ns, queue_ns, run_ns, preempted_ns,
	reply_ns, return_ns, finish_ns, signal_ns, lateness_ns, preemptions, cold,
	priority AS priority_word, path AS path_word, status AS status_word,
	quality AS quality_word, sides AS sides_word, coalesce(deadline < submitted, 0) AS submitted_late
FROM picked
ORDER BY id
