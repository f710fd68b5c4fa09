-- samples: one row per picked execution, with its phases and its ending. miss_unknown: whether it missed a deadline was not recorded. Leaves out trial runs
-- of models; a comparison also leaves out incomplete executions.
-- diff --show-sql prints this; input/samples.c makes the same of executions that it reads without SQL (bsa/executions.h).
@with@
SELECT app_id, model_id, path, cold, sides, complete, status, request_spun_ns IS NOT NULL AS full,
	e2e_ns, prepare_ns, send_ns, decode_ns, fence_ns, slots_ns, queue_ns, run_ns, preempted_ns, reply_ns, return_ns, finish_ns,
	signal_ns, redo_ns, cpu_ns,
	coalesce(submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, run_ended, result_written, result_read,
		returned, signalled, missed_at) AS at,
	deadline IS NOT NULL OR miss IS NOT NULL AS had_deadline, miss IS NOT NULL AS missed,
	miss IS NULL AND (deadline IS NOT NULL AND quality IN ('gap', 'tail') OR deadline IS NOT NULL AND quality = 'open' AND deadline < @ended@
		OR deadline IS NOT NULL AND complete AND path = 'fenced' AND status IS NULL
		OR @deadline_unknown@) AS miss_unknown,
	quality, reference_ns, run_delay_ns
FROM picked WHERE path IS NOT 'prepare' ORDER BY id
