-- execution_phase: one row per execution and phase that it went through. Of a complete execution they sum to e2e_ns exactly.
-- Leaves out phases whose length is unknown, and those that never began or that the path does not have, which are 0.
CREATE VIEW execution_phase AS SELECT * FROM (SELECT
	x.id AS execution_id,
	p.name AS phase,
	CASE p.number
		WHEN 0 THEN x.submitted
		WHEN 1 THEN x.request_written
		WHEN 2 THEN x.request_read
		WHEN 3 THEN CASE WHEN x.path = 2 OR x.fence_ns > 0 THEN x.decoded END
		WHEN 4 THEN CASE x.path WHEN 2 THEN coalesce(x.fenced, x.decoded) ELSE x.decoded END
		WHEN 5 THEN x.enqueued
		WHEN 6 THEN x.dispatched
		WHEN 7 THEN (SELECT min(s.stopped) FROM stored_preemption s WHERE s.execution_id = x.id)
		WHEN 8 THEN CASE WHEN x.path <> 2 OR x.reply_ns > 0 THEN x.run_ended END
		WHEN 9 THEN CASE WHEN x.path <> 2 OR x.return_ns > 0 THEN x.result_written END
		WHEN 10 THEN CASE WHEN x.path <> 2 OR x.finish_ns > 0 THEN x.result_read END
		WHEN 11 THEN CASE WHEN x.path = 2 OR x.signal_ns > 0 THEN x.run_ended END
	END AS began,
	CASE p.number
		WHEN 0 THEN x.prepare_ns
		WHEN 1 THEN x.send_ns
		WHEN 2 THEN x.decode_ns
		WHEN 3 THEN x.fence_ns
		WHEN 4 THEN x.slots_ns
		WHEN 5 THEN x.queue_ns
		WHEN 6 THEN x.run_ns
		WHEN 7 THEN x.preempted_ns
		WHEN 8 THEN x.reply_ns
		WHEN 9 THEN x.return_ns
		WHEN 10 THEN x.finish_ns
		WHEN 11 THEN x.signal_ns
	END AS dur_ns
FROM stored_unpacked x CROSS JOIN stored_phase p)
WHERE dur_ns IS NOT NULL AND (began IS NOT NULL OR dur_ns > 0);

INSERT INTO schema_doc VALUES
('execution_phase', '', '', 'phase that an execution went through; those of a complete execution sum to its e2e_ns'),
('execution_phase', 'execution_id', 'id', 'execution.id'),
('execution_phase', 'phase', 'label', 'prepare, send, decode, slots, queue, run, preempted, reply, return, finish; fenced: fence before slots, and signal after run'),
('execution_phase', 'began', 'time', 'of preempted: when it was first off its lane'),
('execution_phase', 'dur_ns', 'ns', 'all stretches of it together');
