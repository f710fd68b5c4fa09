-- case_errors: one row per app, user, model and status of executions that failed, and of models that could not be prepared, from @since@ to @until@:
-- executions that the watch noticed (@execs@) first, then the most frequent. resource: what a service first refused to the app
-- meanwhile. Missed deadlines are not failures here. Leaves out what @only@ leaves
-- out.
@with@, called AS (SELECT id, uid, coalesce(nullif(name, ''), 'app ' || key) AS name FROM app),
failed AS MATERIALIZED (
	SELECT n.name AS app, n.uid AS user, p.model, p.status, 0 AS prepared, p.exec IN (@execs@) AS heard, p.dispatched IS NOT NULL AS ran, p.sides
	FROM picked p LEFT JOIN called n ON n.id = p.app_id
	WHERE p.status NOT IN ('NONE', 'MISSED_DEADLINE_TRANSIENT', 'MISSED_DEADLINE_PERSISTENT')
		AND coalesce(p.returned, p.run_ended, p.submitted, p.request_read) BETWEEN @since@ AND @until@
	UNION ALL
	SELECT a.name, a.uid, m.name, m.status, 1, 0, 0, NULL FROM model m LEFT JOIN called a ON a.id = m.app_id
	WHERE m.status NOT IN ('NONE', 'MISSED_DEADLINE_TRANSIENT', 'MISSED_DEADLINE_PERSISTENT') AND m.prepared BETWEEN @since@ AND @until@)
SELECT app, user, model, status, prepared, count(*) AS n_failed, sum(ran) AS n_ran, sum(heard) AS n_heard,
	(SELECT r.resource || ' (' || r.asked || ' asked for, limit ' || r.limit_value || ')' FROM resource_exhausted r
		WHERE status LIKE 'RESOURCE_EXHAUSTED%' AND r.at BETWEEN @since@ AND @until@
			AND r.app_id IN (SELECT k.id FROM called k WHERE k.name IS app AND k.uid IS user) ORDER BY r.at LIMIT 1) AS resource
FROM failed WHERE @only@
GROUP BY app, user, model, status, prepared
ORDER BY n_heard > 0 DESC, n_failed DESC, app, user, model, status
