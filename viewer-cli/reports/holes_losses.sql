-- holes_losses: one row per loss, in order of time: its interval, and the app that it may hide; NULL: any app. A loss in a buffer of one client hides
-- only executions of that client's app; a loss in any other buffer may hide those of every app. Apps by name, because two recordings have different
-- ids for one app.
SELECT l.began, l.ended, CASE WHEN NOT EXISTS (SELECT 1 FROM process s WHERE s.pid = l.pid AND s.role = 'service') THEN
  (SELECT min(a.name) FROM process p JOIN app a ON a.id = p.app_id WHERE p.pid = l.pid AND p.role = 'client'
    HAVING count(DISTINCT a.name) = 1) END AS app
FROM loss l ORDER BY ifnull(l.began, -9223372036854775807), l.ended
