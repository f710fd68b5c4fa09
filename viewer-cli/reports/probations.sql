-- probations: one row per stall that put its app on probation, or kept it there, for a second from then on; for a WITH. As far as stalls show it: an
-- execution of the app had stalled less than a second before, too. The same rule as in choices.sql (docs/figures.md, Stalled).
SELECT app_id, stopped FROM (
  SELECT app_id, stopped, lag(stopped) OVER (PARTITION BY app_id ORDER BY stopped) AS before
  FROM preemption s JOIN involved v USING (execution_id) WHERE s.mode = 'stalled')
WHERE stopped - before < 1000000000
