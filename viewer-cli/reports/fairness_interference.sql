-- fairness_interference: one row per app that waited and app that held the lane: for how long. The percentage is of all waits of the app for lanes
-- with a known holder. Leaves out time with an unknown holder.
@with@, pairs AS (@pairs@)
SELECT v.name AS app, b.name AS waited_for, p.ns AS waited_ns, 100.0 * p.ns / sum(p.ns) OVER (PARTITION BY p.app_id) AS waited_percent
FROM pairs p LEFT JOIN apps v ON v.id = p.app_id LEFT JOIN apps b ON b.id = p.by_app_id
WHERE p.ns > 0
ORDER BY p.ns DESC, p.app_id, p.by_app_id
