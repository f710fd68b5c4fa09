-- misses_worst: one row per miss, the most late first: its primary cause and its culprit. Executions submitted after their deadline are last. Leaves out
-- misses of unknown lateness.
@with@
SELECT p.id, p.app, p.model, p.lateness_ns, c.cause, a.name AS culprit, m.name AS culprit_model, c.late_ns AS cause_ns,
	p.submitted - @began@ AS submitted_at, p.miss, c.saved, p.priority
FROM miss_cause c CROSS JOIN picked p ON p.id = c.execution_id
	LEFT JOIN execution x ON x.id = c.culprit_execution_id
	LEFT JOIN models m ON m.id = x.model_id
	LEFT JOIN apps a ON a.id = c.culprit_app_id
WHERE c.is_primary AND p.lateness_ns IS NOT NULL
ORDER BY coalesce(p.deadline < p.submitted, 0), p.lateness_ns DESC, p.id
