-- samples: one row per execution that was picked, with its phases; leaves out nothing, who compares leaves out what is not complete.
@with@
SELECT app_id, model_id, path, cold, sides, complete, status, request_spun_ns IS NOT NULL AS full,
	e2e_ns, prepare_ns, send_ns, decode_ns, fence_ns, slots_ns, queue_ns, run_ns, preempted_ns, reply_ns, return_ns, finish_ns,
	signal_ns, redo_ns, cpu_ns
FROM picked ORDER BY id
