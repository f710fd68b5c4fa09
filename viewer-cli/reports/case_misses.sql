-- case_misses: one row per app, user, model, primary cause and culprit of the deadlines missed from @since@ to @until@: executions that the watch noticed
-- (@execs@) first, then those with a known cause, then the most frequent. n_heard: number of noticed executions; budget_ns: median budget; run_ns:
-- usual run. Apps have the names that they give themselves, which others may have, too. Leaves out what @only@ leaves out.
@with@, called AS (SELECT id, uid, coalesce(nullif(name, ''), 'app ' || key) AS name FROM app),
missed AS MATERIALIZED (
	SELECT n.name AS app, n.uid AS user, p.model, p.model_id, p.status, p.lateness_ns, iif(p.deadline > p.submitted, p.deadline - p.submitted, 0) AS budget_ns,
		p.exec IN (@execs@) AS heard, coalesce(c.cause, 'unknown') AS cause, b.name AS culprit, m.name AS culprit_model,
		CASE WHEN p.status = 'MISSED_DEADLINE_PERSISTENT' THEN 'persistent' WHEN p.miss = 'late' THEN 'late' ELSE 'transient' END AS kind
	FROM picked p LEFT JOIN called n ON n.id = p.app_id LEFT JOIN miss_cause c ON c.execution_id = p.id AND c.is_primary
		LEFT JOIN execution x ON x.id = c.culprit_execution_id LEFT JOIN models m ON m.id = x.model_id
		LEFT JOIN called b ON b.id = c.culprit_app_id
	WHERE p.miss IS NOT NULL AND coalesce(p.missed_at, p.run_ended, p.returned, p.submitted, p.request_read) BETWEEN @since@ AND @until@),
grouped AS (
	SELECT app, user, model, cause, culprit, max(culprit_model) AS culprit_model, count(*) AS n_misses, sum(kind = 'persistent') AS n_persistent,
		max(lateness_ns) AS worst_ns, percentile(budget_ns, 50) AS budget_ns, max(model_id) AS model_id, sum(heard) AS n_heard
	FROM missed WHERE @only@ GROUP BY app, user, model, cause, culprit)
SELECT app, user, model, cause, culprit, culprit_model, n_misses, n_persistent, worst_ns, budget_ns,
	coalesce((SELECT max(t.p50_ns) FROM typical t WHERE t.model_id = g.model_id AND t.phase = 'run' AND t.runs > 0),
		(SELECT d.estimate_ns FROM model d WHERE d.id = g.model_id)) AS run_ns,
	NOT EXISTS (SELECT 1 FROM typical t WHERE t.model_id = g.model_id AND t.phase = 'run' AND t.runs > 0) AS run_estimated,
	n_heard
FROM grouped g
ORDER BY n_heard > 0 DESC, cause = 'unknown', n_misses DESC, worst_ns DESC, app, user, model, cause, culprit
