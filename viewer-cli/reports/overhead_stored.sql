-- overhead_stored: the overhead of executions, one row per group of phase_stat. share is of the time of all executions of the group. Leaves out
-- executions that are incomplete or were not answered.
@with@, grouped AS (
  SELECT app_id, model, priority, path, cold,
    max(CASE phase WHEN 'overhead' THEN n END) AS n,
    max(CASE phase WHEN 'e2e' THEN p50_ns END) AS e2e_p50_ns, max(CASE phase WHEN 'run' THEN p50_ns END) AS run_p50_ns,
    max(CASE phase WHEN 'overhead' THEN p50_ns END) AS overhead_p50_ns, max(CASE phase WHEN 'overhead' THEN p99_ns END) AS overhead_p99_ns,
    max(CASE phase WHEN 'overhead' THEN sum_ns END) AS overhead_ns, max(CASE phase WHEN 'e2e' THEN sum_ns END) AS e2e_ns
  FROM phase_stat WHERE phase IN ('e2e', 'run', 'overhead') GROUP BY app_id, model, priority, path, cold)
SELECT @keys@, s.n, 100.0 * s.overhead_ns / s.e2e_ns AS share_percent, s.overhead_p50_ns, s.overhead_p99_ns, s.e2e_p50_ns, s.run_p50_ns,
  s.overhead_ns AS sum_ns
FROM grouped s LEFT JOIN apps a ON a.id = s.app_id
ORDER BY @order@
