-- export_streams: one row per stream, in the order of their ids: its trace, number, path and app, and the process that is shown for its own: the first
-- one of that trace, pid and app.
WITH p(id, shown) AS MATERIALIZED (SELECT id, min(id) OVER (PARTITION BY trace_id, pid, app_id) FROM process WHERE role = 'client')
SELECT s.id, s.trace_id, s.number, s.path, p.shown, s.app_id
FROM stream s LEFT JOIN p ON p.id = s.process_id
ORDER BY s.id
