-- case_slow: one row: the phase that took most of the time of the executions of @only@, its percentage, and the app that held the lane for most of
-- their waits; no phase: no execution is known in full. Leaves out executions without an answer.
@with@,
meant AS MATERIALIZED (SELECT * FROM picked WHERE @only@ AND complete AND status IS 'NONE' AND e2e_ns > 0 AND path IS NOT 'prepare'),
parts(phase, ns) AS (
	SELECT 'prepare', sum(prepare_ns) FROM meant UNION ALL SELECT 'send', sum(send_ns) FROM meant UNION ALL SELECT 'decode', sum(decode_ns) FROM meant
	UNION ALL SELECT 'fence', sum(fence_ns) FROM meant UNION ALL SELECT 'slots', sum(slots_ns) FROM meant UNION ALL SELECT 'queue', sum(queue_ns) FROM meant
	UNION ALL SELECT 'run', sum(run_ns) FROM meant UNION ALL SELECT 'preempted', sum(preempted_ns) FROM meant UNION ALL SELECT 'reply', sum(reply_ns) FROM meant
	UNION ALL SELECT 'return', sum(return_ns) FROM meant UNION ALL SELECT 'finish', sum(finish_ns) FROM meant UNION ALL SELECT 'signal', sum(signal_ns) FROM meant),
largest AS (SELECT phase, ns FROM parts WHERE ns IS NOT NULL ORDER BY ns DESC, phase LIMIT 1),
called AS (SELECT id, coalesce(nullif(name, ''), 'app ' || key) AS name FROM app),
holders AS (
	SELECT a.name AS culprit, m.name AS culprit_model
	FROM meant x JOIN wait t ON t.execution_id = x.id JOIN execution h ON h.id = t.blocker_id
		LEFT JOIN called a ON a.id = h.app_id LEFT JOIN models m ON m.id = h.model_id
	GROUP BY h.app_id, m.name ORDER BY sum(t.ended - t.began) DESC, h.app_id, m.name LIMIT 1)
SELECT l.phase, CAST(round(100.0 * l.ns / (SELECT sum(e2e_ns) FROM meant)) AS INTEGER) AS percent, (SELECT culprit FROM holders) AS culprit,
	(SELECT culprit_model FROM holders) AS culprit_model
FROM largest l
