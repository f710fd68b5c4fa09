-- misses_worst: one row per miss, the most late first: its primary cause and its culprit. Executions submitted after their deadline are last. Leaves out
-- misses of unknown lateness.
@with@, latest AS MATERIALIZED ( -- of all of them no more is looked up than it takes to find these
	SELECT p.id, coalesce(p.deadline < p.submitted, 0) AS passed, p.lateness_ns
	FROM miss_cause c CROSS JOIN picked p ON p.id = c.execution_id WHERE c.is_primary AND p.lateness_ns IS NOT NULL
	ORDER BY passed, p.lateness_ns DESC, p.id LIMIT @most@)
SELECT p.id, p.app, p.model, p.lateness_ns, c.cause, a.name AS culprit, m.name AS culprit_model, c.late_ns AS cause_ns,
	p.submitted - @began@ AS submitted_at, p.miss, c.saved, p.priority
FROM latest l CROSS JOIN picked p ON p.id = l.id CROSS JOIN miss_cause c ON c.execution_id = l.id AND c.is_primary
	LEFT JOIN execution x ON x.id = c.culprit_execution_id
	LEFT JOIN models m ON m.id = x.model_id
	LEFT JOIN apps a ON a.id = c.culprit_app_id
ORDER BY l.passed, l.lateness_ns DESC, l.id
