-- overhead_causes_stored: the overhead of all executions, one row per cause, the largest first, with the app that had most of it. Leaves out
-- executions that are incomplete or were not answered, and causes without overhead.
@with@, each AS MATERIALIZED (
  SELECT c.cause, a.name AS app, c.model, c.path, sum(c.n) AS n, total(c.sum_ns) AS sum_ns
  FROM overhead_cause c LEFT JOIN apps a ON a.id = c.app_id GROUP BY 1, 2, 3, 4),
sums AS (SELECT cause, sum(n) AS n, total(sum_ns) AS sum_ns, max(sum_ns) AS most_ns FROM each GROUP BY cause HAVING total(sum_ns) > 0)
-- the first of those that had most is looked for by cause: a window would sort all of them
SELECT cause, n, CAST(sum_ns AS INTEGER) AS sum_ns, 100 * sum_ns / sum(sum_ns) OVER () AS share_percent,
  (SELECT app FROM each e WHERE e.cause IS s.cause AND e.sum_ns = s.most_ns ORDER BY app, model, path LIMIT 1) AS app,
  (SELECT nullif(model, '') FROM each e WHERE e.cause IS s.cause AND e.sum_ns = s.most_ns ORDER BY app, e.model, path LIMIT 1) AS model,
  (SELECT path FROM each e WHERE e.cause IS s.cause AND e.sum_ns = s.most_ns ORDER BY app, model, path LIMIT 1) AS path,
  100 * most_ns / sum_ns AS of_it_percent
FROM sums s ORDER BY 3 DESC, cause
