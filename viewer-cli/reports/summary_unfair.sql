-- summary_unfair: one row: the app that was furthest behind its share, and who it waited for longest.
@with@, last AS (SELECT app_id FROM app_share ORDER BY max_lag_ns DESC, app_id LIMIT 1)
SELECT a.name AS app,
  (SELECT b.name FROM interference i JOIN apps b ON b.id = i.by_app_id WHERE i.app_id = l.app_id AND i.by_app_id <> i.app_id
    ORDER BY i.ns DESC, i.by_app_id LIMIT 1) AS culprit
FROM last l LEFT JOIN apps a ON a.id = l.app_id
