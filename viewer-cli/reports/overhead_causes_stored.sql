-- overhead_causes_stored: the overhead of all executions, one row per cause, the largest first, with the app that had most of it. Leaves out
-- executions that are incomplete or were not answered, and causes without overhead.
@with@, each AS (
  SELECT c.cause, a.name AS app, c.model, c.path, sum(c.n) AS n, total(c.sum_ns) AS sum_ns
  FROM overhead_cause c LEFT JOIN apps a ON a.id = c.app_id GROUP BY 1, 2, 3, 4),
ranked AS (SELECT *, row_number() OVER (PARTITION BY cause ORDER BY sum_ns DESC, app, model, path) AS nth FROM each)
SELECT cause, sum(n) AS n, CAST(total(sum_ns) AS INTEGER) AS sum_ns, 100 * total(sum_ns) / sum(total(sum_ns)) OVER () AS share_percent,
  max(CASE nth WHEN 1 THEN app END) AS app, max(CASE nth WHEN 1 THEN nullif(model, '') END) AS model,
  max(CASE nth WHEN 1 THEN path END) AS path, 100 * max(sum_ns) / total(sum_ns) AS of_it_percent
FROM ranked GROUP BY cause HAVING total(sum_ns) > 0 ORDER BY sum_ns DESC, cause
