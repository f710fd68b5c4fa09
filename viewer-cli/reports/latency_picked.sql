-- latency_picked: percentiles of a phase, one row per group of the picked executions. Leaves out executions that are incomplete or were not answered.
-- (LIMIT -1 is no limit: it makes SQLite sort fewer columns.)
@with@, @kinds@,
grouped AS MATERIALIZED (
  SELECT key, min(id) AS id, count(v) AS n, percentile(v, 50) AS p50_ns, percentile(v, 90) AS p90_ns, percentile(v, 99) AS p99_ns,
    max(v) AS max_ns
  FROM (SELECT @key@ AS key, p.id, @value@ AS v FROM picked p LEFT JOIN kinds k ON k.id = p.model_id
    WHERE @only@p.complete AND p.status = 'NONE' LIMIT -1)
  WHERE v IS NOT NULL GROUP BY key)
SELECT @keys@, g.n, g.p50_ns, g.p90_ns, g.p99_ns, g.max_ns
FROM grouped g CROSS JOIN execution x ON x.id = g.id LEFT JOIN apps a ON a.id = x.app_id LEFT JOIN kinds k ON k.id = x.model_id
  LEFT JOIN burst b ON b.id = x.burst_id
ORDER BY @order@
