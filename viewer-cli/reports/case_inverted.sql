-- case_inverted: one row per app, user and pair of its models: inversions that ended from @since@ to @until@, the longest first. Apps have the names that
-- they give themselves. Leaves out what @only@ leaves out.
@with@, called AS (SELECT id, uid, coalesce(nullif(name, ''), 'app ' || key) AS name FROM app),
each AS MATERIALIZED (
	SELECT a.name AS app, a.uid AS user, n.name AS model, v.priority, m.name AS holder, h.priority AS holder_priority, i.dur_ns
	FROM inversion i CROSS JOIN involved v ON v.execution_id = i.victim_id LEFT JOIN called a ON a.id = v.app_id
		LEFT JOIN models n ON n.id = v.model_id LEFT JOIN involved h ON h.execution_id = i.holder_id LEFT JOIN models m ON m.id = h.model_id
	WHERE i.began + i.dur_ns BETWEEN @since@ AND @until@)
SELECT app, user, model, priority, holder, holder_priority, count(*) AS n_waits, max(dur_ns) AS worst_ns
FROM each WHERE @only@ GROUP BY app, user, model, priority, holder, holder_priority ORDER BY worst_ns DESC, app, user, model, holder
