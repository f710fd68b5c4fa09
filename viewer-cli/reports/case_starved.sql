-- case_starved: one row per app, user, model and culprit: waits for a lane that ended from @since@ to @until@ and were longer than a condition allows, the
-- longest first. culprit: the app that held the lane longest in the longest wait, for culprit_percent of it. Apps have the names that they give themselves, which others may
-- have, too. Leaves out what @only@ leaves out.
@with@, called AS (SELECT id, uid, coalesce(nullif(name, ''), 'app ' || key) AS name FROM app), episodes AS (@episodes@),
starved AS MATERIALIZED (
	SELECT a.name AS app, a.uid AS user, e.model, b.name AS culprit, e.gap_ns, e.execution_id, e.top_culprit_app_id, e.top_culprit_ns
	FROM episodes e LEFT JOIN called a ON a.id = e.app_id LEFT JOIN called b ON b.id = e.top_culprit_app_id
	WHERE e.began + e.gap_ns BETWEEN @since@ AND @until@),
-- SQLite takes bare columns from the row of the only max()
grouped AS (SELECT app, user, model, culprit, count(*) AS n_waits, max(gap_ns) AS worst_ns, execution_id, top_culprit_app_id, top_culprit_ns FROM starved WHERE @only@ GROUP BY app, user, model, culprit)
SELECT app, user, model, culprit, n_waits, worst_ns, CAST(100.0 * top_culprit_ns / worst_ns AS INTEGER) AS culprit_percent,
	(SELECT m.name FROM wait t JOIN execution x ON x.id = t.blocker_id LEFT JOIN models m ON m.id = x.model_id
		WHERE t.execution_id = g.execution_id AND t.blocker_app_id IS g.top_culprit_app_id GROUP BY m.name ORDER BY sum(t.ended - t.began) DESC LIMIT 1) AS culprit_model
FROM grouped g ORDER BY worst_ns DESC, app, user, model, culprit
