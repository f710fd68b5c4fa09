-- misses_worst: one row per miss, the most late first: its primary cause and its culprit. Executions submitted after their deadline are last. Leaves out
-- misses of unknown lateness.
@with@
SELECT p.id, (SELECT name FROM apps WHERE apps.id = p.app_id) AS app, (SELECT name FROM models WHERE models.id = p.model_id) AS model, p.lateness_ns,
	p.cause, a.name AS culprit, m.name AS culprit_model, p.late_ns AS cause_ns, p.submitted - @began@ AS submitted_at, p.miss, p.saved, p.priority
FROM (@missed@) p
	LEFT JOIN execution x ON x.id = p.culprit_execution_id
	LEFT JOIN models m ON m.id = x.model_id
	LEFT JOIN apps a ON a.id = p.culprit_app_id
WHERE p.lateness_ns IS NOT NULL
ORDER BY coalesce(p.deadline < p.submitted, 0), p.lateness_ns DESC, p.id
