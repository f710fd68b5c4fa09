-- execution_phase: one row per execution and phase that it went through. Of a complete execution they sum to e2e_ns exactly.
-- Leaves out phases of unknown duration, and phases of duration 0: those that never began, or that the path does not have.
INSERT INTO stored_phase VALUES @values phase@;

CREATE VIEW execution_phase AS SELECT * FROM (SELECT
	x.id AS execution_id,
	p.name AS phase,
	CASE p.number
		WHEN @phase:prepare@ THEN x.submitted
		WHEN @phase:send@ THEN x.request_written
		WHEN @phase:decode@ THEN x.request_read
		WHEN @phase:fence@ THEN CASE WHEN x.path = @path:fenced@ OR x.fence_ns > 0 THEN x.decoded END
		WHEN @phase:slots@ THEN CASE x.path WHEN @path:fenced@ THEN coalesce(x.fenced, x.decoded) ELSE x.decoded END
		WHEN @phase:queue@ THEN x.enqueued
		WHEN @phase:run@ THEN x.dispatched
		WHEN @phase:preempted@ THEN (SELECT min(s.stopped) FROM stored_preemption s WHERE s.execution_id = x.id)
		WHEN @phase:reply@ THEN CASE WHEN x.path <> @path:fenced@ OR x.reply_ns > 0 THEN x.run_ended END
		WHEN @phase:return@ THEN CASE WHEN x.path <> @path:fenced@ OR x.return_ns > 0 THEN x.result_written END
		WHEN @phase:finish@ THEN CASE WHEN x.path <> @path:fenced@ OR x.finish_ns > 0 THEN x.result_read END
		WHEN @phase:signal@ THEN CASE WHEN x.path = @path:fenced@ OR x.signal_ns > 0 THEN x.run_ended END
	END AS began,
	CASE p.number
		WHEN @phase:prepare@ THEN x.prepare_ns
		WHEN @phase:send@ THEN x.send_ns
		WHEN @phase:decode@ THEN x.decode_ns
		WHEN @phase:fence@ THEN x.fence_ns
		WHEN @phase:slots@ THEN x.slots_ns
		WHEN @phase:queue@ THEN x.queue_ns
		WHEN @phase:run@ THEN x.run_ns
		WHEN @phase:preempted@ THEN x.preempted_ns
		WHEN @phase:reply@ THEN x.reply_ns
		WHEN @phase:return@ THEN x.return_ns
		WHEN @phase:finish@ THEN x.finish_ns
		WHEN @phase:signal@ THEN x.signal_ns
	END AS dur_ns
FROM stored_unpacked x CROSS JOIN stored_phase p)
WHERE dur_ns IS NOT NULL AND (began IS NOT NULL OR dur_ns > 0);
