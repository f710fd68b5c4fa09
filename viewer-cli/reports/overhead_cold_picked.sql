-- overhead_cold_picked: the cost of unknown slots, one row per group of the picked executions: medians of cold and warm executions, and the parts of
-- their difference for fetching, mapping, and running on memory touched for the first time. Leaves out groups without both, and executions that are
-- incomplete or were not answered.
@with@, @kinds@, missed AS MATERIALIZED (
  SELECT execution_id AS id, max(fetch_ns) AS fetch_ns, total(map_ns) AS map_ns FROM slot_miss GROUP BY execution_id),
grouped AS MATERIALIZED (
  SELECT key, min(id) AS id, count(cold_ns) AS n_cold, count(warm_ns) AS n_warm, percentile(cold_ns, 50) AS cold_p50_ns,
    percentile(warm_ns, 50) AS warm_p50_ns, percentile(iif(cold, run_ns, NULL), 50) - percentile(iif(cold, NULL, run_ns), 50) AS run_ns,
    percentile(fetch_ns, 50) AS fetch_ns, CAST(percentile(map_ns, 50) AS INTEGER) AS map_ns
  FROM (SELECT @key@ - p.cold AS key, p.id, p.cold, iif(p.cold, p.e2e_ns, NULL) AS cold_ns, iif(p.cold, NULL, p.e2e_ns) AS warm_ns, p.run_ns,
      iif(p.cold, s.fetch_ns, NULL) AS fetch_ns, iif(p.cold, s.map_ns, NULL) AS map_ns
    FROM picked p LEFT JOIN kinds k ON k.id = p.model_id LEFT JOIN missed s ON s.id = p.id
    WHERE @only@p.path = 'burst' AND p.cold IS NOT NULL AND p.complete AND p.status = 'NONE' LIMIT -1)
  GROUP BY key)
SELECT @who@, g.n_cold, g.n_warm, g.cold_p50_ns, g.warm_p50_ns, g.cold_p50_ns - g.warm_p50_ns AS difference_ns, g.fetch_ns, g.map_ns, g.run_ns,
  g.cold_p50_ns - g.warm_p50_ns - g.fetch_ns - g.map_ns - g.run_ns AS other_ns
FROM grouped g CROSS JOIN execution x ON x.id = g.id LEFT JOIN apps a ON a.id = x.app_id LEFT JOIN kinds k ON k.id = x.model_id
  LEFT JOIN burst b ON b.id = x.burst_id
WHERE g.n_cold > 0 AND g.n_warm > 0 ORDER BY @by@
