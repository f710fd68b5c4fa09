-- stored_unpacked: one row per execution, with times and phases as numbers, and flags packed. Other views read it.
CREATE VIEW stored_unpacked AS SELECT
	x.id, x.flags, x.trace_id, x.stream_id, x.seq, x.app_id, x.model_id,
	@bits flags.path x@ AS path,
	@value flags.lane x@ AS lane,
	@value flags.idle x@ AS idle,
	@value flags.fence_free x@ AS fence_free,
	@columns stored_execution x submitted..signalled@,
	@columns stored_execution x deadline..@,
	CASE WHEN @bits flags.plain x@ THEN
		CASE WHEN @bits flags.path x@ = @path:fenced@ AND @bits flags.sides x@ <> @sides:client@ THEN x.signalled
		WHEN @bits flags.sides x@ = @sides:service@ THEN x.result_written ELSE x.returned END
		- CASE @bits flags.sides x@ WHEN @sides:service@ THEN x.request_read ELSE x.submitted END
	ELSE (SELECT p.e2e_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS e2e_ns,
	CASE WHEN @bits flags.plain x@ THEN x.request_written - x.submitted
	ELSE (SELECT p.prepare_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS prepare_ns,
	CASE WHEN @bits flags.plain x@ THEN x.request_read - x.request_written
	ELSE (SELECT p.send_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS send_ns,
	CASE WHEN @bits flags.plain x@ THEN x.decoded - x.request_read
	ELSE (SELECT p.decode_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS decode_ns,
	CASE WHEN @bits flags.plain x@ THEN CASE @bits flags.path x@ WHEN @path:fenced@ THEN x.fenced - x.decoded ELSE 0 END
	ELSE (SELECT p.fence_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS fence_ns,
	CASE WHEN @bits flags.plain x@ THEN x.enqueued - CASE @bits flags.path x@ WHEN @path:fenced@ THEN x.fenced ELSE x.decoded END
	ELSE (SELECT p.slots_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS slots_ns,
	CASE WHEN @bits flags.plain x@ THEN x.dispatched - x.enqueued
	ELSE (SELECT p.queue_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS queue_ns,
	CASE WHEN @bits flags.plain x@ THEN x.run_ended - x.dispatched - x.preempted_ns
	ELSE (SELECT p.run_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS run_ns,
	x.preempted_ns,
	CASE WHEN @bits flags.plain x@ THEN CASE @bits flags.path x@ WHEN @path:fenced@ THEN 0 ELSE x.result_written - x.run_ended END
	ELSE (SELECT p.reply_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS reply_ns,
	CASE WHEN @bits flags.plain x@ THEN CASE @bits flags.path x@ WHEN @path:fenced@ THEN 0 ELSE x.result_read - x.result_written END
	ELSE (SELECT p.return_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS return_ns,
	CASE WHEN @bits flags.plain x@ THEN CASE @bits flags.path x@ WHEN @path:fenced@ THEN 0 ELSE x.returned - x.result_read END
	ELSE (SELECT p.finish_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS finish_ns,
	CASE WHEN @bits flags.plain x@ THEN CASE @bits flags.path x@ WHEN @path:fenced@ THEN x.signalled - x.run_ended ELSE 0 END
	ELSE (SELECT p.signal_ns FROM stored_phases p WHERE p.execution_id = x.id) END AS signal_ns,
	@columns stored_execution x redo_ns..bypassed@
FROM stored_execution x;
