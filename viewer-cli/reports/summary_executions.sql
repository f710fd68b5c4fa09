-- summary_executions: one row per app and status: number of executions.
@with@
SELECT a.name AS app, c.status, sum(c.n) AS n, sum(c.deadlines) AS n_deadlines, ifnull(sum(c.n) FILTER (WHERE c.miss IS NOT NULL), 0) AS n_missed
FROM execution_count c LEFT JOIN apps a ON a.id = c.app_id GROUP BY c.app_id, c.status ORDER BY n DESC, app, c.status
