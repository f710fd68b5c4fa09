-- starvation_culprits: one row per app that held the lane longest while another app, or itself, was starved.
@with@, episodes AS (@episodes@)
SELECT b.name AS culprit, a.name AS app, count(*) AS n_episodes, sum(e.top_culprit_ns) AS held_ns,
	100.0 * sum(e.top_culprit_ns) / sum(e.gap_ns) AS held_percent
FROM episodes e LEFT JOIN apps a ON a.id = e.app_id LEFT JOIN apps b ON b.id = e.top_culprit_app_id
WHERE e.top_culprit_app_id IS NOT NULL
GROUP BY e.top_culprit_app_id, e.app_id ORDER BY held_ns DESC, culprit, app
