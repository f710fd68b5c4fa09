-- miss_stat_picked: as miss_stat has it of all misses, of those that were picked: one row per app, model name, priority and cause; for a WITH.
SELECT p.app_id, coalesce((SELECT m.name FROM model m WHERE m.id = p.model_id), '') AS model, p.priority, e.cause, count(*) AS n,
		sum(e.is_primary) AS misses, sum(e.is_primary AND p.status = 'MISSED_DEADLINE_PERSISTENT') AS persistent, sum(e.saved) AS saved,
		sum(max(e.late_ns, 0)) AS lost_ns, max(e.late_ns) AS worst_ns, sum(e.late_ns) AS late_ns, sum(coalesce(e.budget_ns, 0)) AS budget_ns,
		sum(e.unsure) AS unsure
	FROM (
		SELECT execution_id, cause, max(is_primary) AS is_primary, sum(late_ns) AS late_ns, sum(budget_ns) AS budget_ns,
			max(saved) IS 1 AS saved, max(saved) IS NOT 1 AND count(saved) < count(*) AS unsure
		FROM miss_cause GROUP BY execution_id, cause) e
	CROSS JOIN picked p ON p.id = e.execution_id
	GROUP BY p.app_id, 2, p.priority, e.cause
