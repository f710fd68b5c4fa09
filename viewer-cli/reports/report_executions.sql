-- Executions for the page, ordered by id. Times are relative to the start of the execution; began is relative to the start of the recording.
-- Of an execution that was on its lane once, dispatched, run_ended, lane and instance are its stretch on the lane.
SELECT id, app_id, miss AS miss_word, first - @began@ AS began, lane, dispatched - first AS dispatched, run_ended - first AS run_ended,
	exec >> 52 & 4095 AS instance, model_id,
	coalesce(signalled, returned, result_read, result_written, run_ended, missed_at) - first AS ended,
	enqueued - first AS enqueued, deadline - first AS deadline,
	e2e_ns, prepare_ns, send_ns, decode_ns, fence_ns, slots_ns, queue_ns, run_ns, preempted_ns,
	reply_ns, return_ns, finish_ns, signal_ns, lateness_ns, preemptions, cold,
	priority AS priority_word, path AS path_word, status AS status_word,
	quality AS quality_word, sides AS sides_word, coalesce(deadline < submitted, 0) AS submitted_late
FROM (SELECT *, coalesce(submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, run_ended,
	result_written, result_read, returned, signalled, missed_at, deadline, @began@) AS first FROM picked)
ORDER BY id
