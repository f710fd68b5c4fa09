-- miss_stat_picked: miss_stat for the picked executions: one row per app, model name, priority and cause; for a WITH.
SELECT p.app_id, coalesce((SELECT m.name FROM model m WHERE m.id = p.model_id), '') AS model, p.priority, e.cause, count(*) AS n,
		sum(e.is_primary) AS misses, sum(e.is_primary AND p.status = 'MISSED_DEADLINE_PERSISTENT') AS persistent, sum(e.saved) AS saved,
		sum(max(e.late_ns, 0)) AS lost_ns, max(e.late_ns) AS worst_ns, coalesce(sum(e.late_ns), 0) AS late_ns, sum(coalesce(e.budget_ns, 0)) AS budget_ns,
		sum(e.unsure AND e.is_primary) AS unsure
	FROM (
		SELECT c.execution_id, c.cause, max(c.is_primary) AS is_primary, sum(c.late_ns) AS late_ns, sum(c.budget_ns) AS budget_ns,
			CASE WHEN w.execution_id IS NULL THEN max(c.saved) IS 1 ELSE w.met IS 1 END AS saved,
			CASE WHEN w.execution_id IS NULL THEN max(c.saved) IS NOT 1 AND count(c.saved) < count(*) ELSE w.met IS NULL END AS unsure
		FROM miss_cause c LEFT JOIN miss_without w ON w.execution_id = c.execution_id AND w.cause = c.cause
		GROUP BY c.execution_id, c.cause) e
	CROSS JOIN picked p ON p.id = e.execution_id
	GROUP BY p.app_id, 2, p.priority, e.cause
