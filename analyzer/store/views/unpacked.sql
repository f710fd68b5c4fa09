-- stored_unpacked: one row per execution, with its times and phases as numbers, and flags as they are. Other views are made of it.
CREATE VIEW stored_unpacked AS SELECT
	x.id, x.flags, x.trace_id, x.stream_id, x.seq, x.app_id, x.model_id,
	x.flags & 7 AS path,
	NULLIF(x.flags >> 20 & 127, 127) AS lane,
	x.flags >> 27 & 1 AS idle,
	x.base + x.submitted AS submitted,
	x.base + x.request_written AS request_written,
	x.base + x.request_read AS request_read,
	x.base + x.decoded AS decoded,
	x.base + x.fenced AS fenced,
	x.base + x.enqueued AS enqueued,
	x.base + x.dispatched AS dispatched,
	x.base + x.run_ended AS run_ended,
	x.base + x.result_written AS result_written,
	x.base + x.result_read AS result_read,
	x.base + x.returned AS returned,
	x.base + x.signalled AS signalled,
	x.base + x.deadline AS deadline,
	CASE WHEN x.flags >> 28 THEN
		CASE WHEN x.flags & 7 = 2 AND x.flags >> 16 & 3 <> 2 THEN x.signalled
		WHEN x.flags >> 16 & 3 = 1 THEN x.result_written ELSE x.returned END
		- CASE x.flags >> 16 & 3 WHEN 1 THEN x.request_read ELSE x.submitted END
	ELSE (SELECT p.e2e_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS e2e_ns,
	CASE WHEN x.flags >> 28 THEN x.request_written - x.submitted
	ELSE (SELECT p.prepare_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS prepare_ns,
	CASE WHEN x.flags >> 28 THEN x.request_read - x.request_written
	ELSE (SELECT p.send_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS send_ns,
	CASE WHEN x.flags >> 28 THEN x.decoded - x.request_read
	ELSE (SELECT p.decode_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS decode_ns,
	CASE WHEN x.flags >> 28 THEN CASE x.flags & 7 WHEN 2 THEN x.fenced - x.decoded ELSE 0 END
	ELSE (SELECT p.fence_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS fence_ns,
	CASE WHEN x.flags >> 28 THEN x.enqueued - CASE x.flags & 7 WHEN 2 THEN x.fenced ELSE x.decoded END
	ELSE (SELECT p.slots_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS slots_ns,
	CASE WHEN x.flags >> 28 THEN x.dispatched - x.enqueued
	ELSE (SELECT p.queue_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS queue_ns,
	CASE WHEN x.flags >> 28 THEN x.run_ended - x.dispatched - x.preempted_ns
	ELSE (SELECT p.run_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS run_ns,
	x.preempted_ns,
	CASE WHEN x.flags >> 28 THEN CASE x.flags & 7 WHEN 2 THEN 0 ELSE x.result_written - x.run_ended END
	ELSE (SELECT p.reply_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS reply_ns,
	CASE WHEN x.flags >> 28 THEN CASE x.flags & 7 WHEN 2 THEN 0 ELSE x.result_read - x.result_written END
	ELSE (SELECT p.return_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS return_ns,
	CASE WHEN x.flags >> 28 THEN CASE x.flags & 7 WHEN 2 THEN 0 ELSE x.returned - x.result_read END
	ELSE (SELECT p.finish_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS finish_ns,
	CASE WHEN x.flags >> 28 THEN CASE x.flags & 7 WHEN 2 THEN x.signalled - x.run_ended ELSE 0 END
	ELSE (SELECT p.signal_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS signal_ns,
	x.redo_ns, x.cpu_ns, x.request_blocked_ns, x.request_spun_ns, x.request_slept_ns, x.result_blocked_ns, x.result_spun_ns,
	x.result_slept_ns, x.slot_lookups, x.slot_misses, x.preemptions, x.bypassed
FROM stored_execution x;
