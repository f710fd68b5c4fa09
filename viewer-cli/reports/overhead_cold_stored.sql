-- overhead_cold_stored: the cost of unknown slots, one row per group of phase_stat: medians of cold and warm executions, and the parts of their
-- difference for fetching, mapping, and running on memory touched for the first time. Leaves out groups without both.
@with@, missed AS (
  SELECT execution_id AS id, max(fetch_ns) AS fetch_ns, total(map_ns) AS map_ns FROM slot_miss GROUP BY execution_id),
fetched AS (
  SELECT x.app_id, ifnull(m.name, '') AS model, x.priority, percentile(s.fetch_ns, 50) AS fetch_ns,
    CAST(percentile(s.map_ns, 50) AS INTEGER) AS map_ns
  FROM missed s CROSS JOIN execution x ON x.id = s.id LEFT JOIN model m ON m.id = x.model_id
  WHERE x.complete AND x.status = 'NONE' AND x.cold GROUP BY 1, 2, 3),
grouped AS (
  SELECT app_id, model, priority, path, NULL AS cold,
    max(CASE WHEN phase = 'e2e' AND cold THEN n END) AS n_cold, max(CASE WHEN phase = 'e2e' AND NOT cold THEN n END) AS n_warm,
    max(CASE WHEN phase = 'e2e' AND cold THEN p50_ns END) AS cold_p50_ns, max(CASE WHEN phase = 'e2e' AND NOT cold THEN p50_ns END) AS warm_p50_ns,
    max(CASE WHEN phase = 'run' AND cold THEN p50_ns END) - max(CASE WHEN phase = 'run' AND NOT cold THEN p50_ns END) AS run_ns
  FROM phase_stat WHERE path = 'burst' GROUP BY app_id, model, priority, path)
SELECT @who@, s.n_cold, s.n_warm, s.cold_p50_ns, s.warm_p50_ns, s.cold_p50_ns - s.warm_p50_ns AS difference_ns, f.fetch_ns, f.map_ns, s.run_ns,
  s.cold_p50_ns - s.warm_p50_ns - f.fetch_ns - f.map_ns - s.run_ns AS other_ns
FROM grouped s LEFT JOIN apps a ON a.id = s.app_id
  LEFT JOIN fetched f ON f.app_id IS s.app_id AND f.model = s.model AND f.priority IS s.priority
WHERE s.n_cold > 0 AND s.n_warm > 0 ORDER BY @by@
