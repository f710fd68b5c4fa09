-- summary_latency: one row: the group of executions with the longest p99 from end to end, among groups of at least 100 executions if there are any;
-- and the phase that took most of their time.
@with@, worst AS (
  SELECT s.* FROM phase_stat s WHERE s.phase = 'e2e'
  ORDER BY s.n < 100, s.p99_ns DESC, s.app_id, s.model, s.priority, s.path, s.cold LIMIT 1),
most AS (
  SELECT s.phase, s.sum_ns, row_number() OVER (ORDER BY s.sum_ns DESC, s.phase) AS nth
  FROM worst w CROSS JOIN phase_stat s
  -- +: SQLite would make an index of all rows for this one
  WHERE +s.app_id IS w.app_id AND +s.model = w.model AND s.priority IS w.priority AND s.path IS w.path AND +s.cold IS w.cold AND s.phase NOT IN ('e2e', 'overhead'))
SELECT a.name AS app, nullif(w.model, '') AS model, w.priority, w.path, w.cold, w.n, w.p50_ns, w.p99_ns, w.max_ns,
  (SELECT phase FROM most WHERE nth = 1) AS phase, (SELECT 100.0 * m.sum_ns / w.sum_ns FROM most m WHERE m.nth = 1) AS phase_percent
FROM worst w LEFT JOIN apps a ON a.id = w.app_id
