-- culprit_stat_picked: culprit_stat for the picked executions: one row per app, app of the culprit, model name, priority, and cause; for a WITH. A miss has one
-- row that is primary, so its rows are added up without a sum by miss first, for which all of them would be sorted once more.
SELECT p.app_id, c.culprit_app_id, coalesce(m.name, '') AS culprit_model, h.priority AS culprit_priority, c.cause,
		sum(c.is_primary) AS misses, sum(c.late_ns) AS lost_ns
	FROM (@missed@) p CROSS JOIN miss_cause c ON c.execution_id = p.id
		LEFT JOIN execution h ON h.id = c.culprit_execution_id
		LEFT JOIN model m ON m.id = h.model_id
	WHERE c.culprit_app_id IS NOT NULL AND c.late_ns > 0
	GROUP BY p.app_id, c.culprit_app_id, culprit_model, h.priority, c.cause
