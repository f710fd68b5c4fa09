-- starvation_victims: one row per starved app and model: how often, how long, from when on, and the app that held the lane for most of that time. Leaves out apps
-- and models without starvation.
@with@, episodes AS (@episodes@),
-- grouped, so that SQLite looks them up by their keys: of thousands of apps it would look for the first place of each among all
had AS (
	SELECT app_id, model, max(iif(place = 1, top_culprit_app_id, NULL)) AS top_culprit_app_id, max(iif(place = 1, ns, NULL)) AS ns FROM (
		SELECT app_id, model, top_culprit_app_id, sum(top_culprit_ns) AS ns,
			row_number() OVER (PARTITION BY app_id, model ORDER BY sum(top_culprit_ns) DESC, top_culprit_app_id) AS place
		FROM episodes GROUP BY app_id, model, top_culprit_app_id)
	GROUP BY app_id, model)
SELECT a.name AS app, e.model, count(*) AS n_episodes, count(DISTINCT e.execution_id) AS n_executions,
	sum(e.gap_ns) AS starved_ns, max(e.gap_ns) AS max_ns,
	sum(e.bypassed) AS n_bypassed, b.name AS culprit, 100.0 * h.ns / sum(e.gap_ns) AS culprit_percent,
	min(e.began) - @began@ AS first_at, max(e.began) - @began@ AS last_at
FROM episodes e LEFT JOIN had h ON h.app_id IS e.app_id AND h.model IS e.model
	LEFT JOIN apps a ON a.id = e.app_id LEFT JOIN apps b ON b.id = h.top_culprit_app_id
GROUP BY e.app_id, e.model ORDER BY starved_ns DESC, app, e.model
