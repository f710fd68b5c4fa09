-- overhead_picked: the overhead of executions, one row per group of the picked executions. share is of the time of all executions of the group.
-- Leaves out executions that are incomplete or were not answered. (LIMIT -1 is no limit: it makes SQLite sort fewer columns.)
@with@, @kinds@,
grouped AS MATERIALIZED (
  SELECT key, min(id) AS id, count(v) AS n, percentile(e2e_ns, 50) AS e2e_p50_ns, percentile(run_ns, 50) AS run_p50_ns,
    percentile(v, 50) AS overhead_p50_ns, percentile(v, 99) AS overhead_p99_ns, total(v) AS overhead_ns, total(e2e_ns) AS e2e_ns
  FROM (SELECT @key@ AS key, p.id, p.e2e_ns, p.run_ns, @value@ AS v
    FROM picked p LEFT JOIN kinds k ON k.id = p.model_id
    WHERE @only@p.complete AND p.status = 'NONE' AND p.e2e_ns IS NOT NULL LIMIT -1)
  GROUP BY key)
SELECT @keys@, nullif(g.n, 0) AS n, CASE WHEN g.n > 0 THEN 100 * g.overhead_ns / g.e2e_ns END AS share_percent, g.overhead_p50_ns,
  g.overhead_p99_ns, g.e2e_p50_ns, g.run_p50_ns,
  CASE WHEN g.n > 0 THEN CAST(g.overhead_ns AS INTEGER) END AS sum_ns
FROM grouped g CROSS JOIN execution x ON x.id = g.id LEFT JOIN apps a ON a.id = x.app_id LEFT JOIN kinds k ON k.id = x.model_id
  LEFT JOIN burst b ON b.id = x.burst_id
ORDER BY @order@
