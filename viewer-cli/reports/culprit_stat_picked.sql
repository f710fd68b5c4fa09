-- culprit_stat_picked: culprit_stat for the picked executions: one row per app, app of the culprit, model name, priority, and cause; for a WITH.
SELECT p.app_id, e.culprit_app_id, e.culprit_model, e.culprit_priority, e.cause, sum(e.is_primary) AS misses, sum(e.late_ns) AS lost_ns
	FROM (
		SELECT c.execution_id, c.culprit_app_id, coalesce(m.name, '') AS culprit_model, h.priority AS culprit_priority, c.cause,
			max(c.is_primary) AS is_primary, sum(c.late_ns) AS late_ns
		FROM miss_cause c
			LEFT JOIN execution h ON h.id = c.culprit_execution_id
			LEFT JOIN model m ON m.id = h.model_id
		WHERE c.culprit_app_id IS NOT NULL AND c.late_ns > 0
		GROUP BY c.execution_id, c.culprit_app_id, 3, h.priority, c.cause) e
	CROSS JOIN picked p ON p.id = e.execution_id
	GROUP BY p.app_id, e.culprit_app_id, e.culprit_model, e.culprit_priority, e.cause
