-- summary_failing: one row per app of which every execution failed, but for deadlines: how many, with which statuses, and how many of them the client gave up
-- before they were answered, after how long. Leaves out apps with an execution that was under way at the end.
@with@,
failing AS MATERIALIZED (
  SELECT app_id, sum(n) AS n FROM execution_count GROUP BY app_id
  HAVING sum(n) = total(iif(status NOT IN ('NONE', 'MISSED_DEADLINE_TRANSIENT', 'MISSED_DEADLINE_PERSISTENT') AND miss IS NULL AND quality <> 'open', n, 0))),
each AS (
  SELECT x.app_id, x.submitted, iif(x.sides <> 'service' AND x.request_written IS NOT NULL AND x.result_read IS NULL, x.returned - x.submitted, NULL) AS left_ns
  FROM failing f CROSS JOIN execution x ON x.app_id IS f.app_id WHERE x.path IS NOT 'prepare'),
statuses AS (
  SELECT app_id, group_concat(status || ' ' || n, ', ') AS statuses FROM (
    SELECT c.app_id, c.status, sum(c.n) AS n FROM failing f CROSS JOIN execution_count c ON c.app_id IS f.app_id GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2) GROUP BY app_id)
SELECT a.name AS app, f.n, s.statuses, count(e.left_ns) AS n_left, min(e.left_ns) AS least_ns, max(e.left_ns) AS most_ns,
  min(e.submitted) - @began@ AS first_at, max(e.submitted) - @began@ AS last_at
FROM failing f JOIN each e ON e.app_id IS f.app_id JOIN statuses s ON s.app_id IS f.app_id LEFT JOIN apps a ON a.id = f.app_id
GROUP BY f.app_id ORDER BY f.n DESC, a.name, f.app_id
