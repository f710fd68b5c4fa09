-- starvation_stopped: one row: of the episodes of starvation of one app and model, the sum of the times in which the service was stopped and went on, the
-- longest wait without them, and for how long at least the culprit held the lane without them.
@with@, episodes AS MATERIALIZED (@episodes@),
stops AS MATERIALIZED (SELECT trace_id, instance, began, ended FROM silence WHERE went_on),
lasted AS MATERIALIZED (
	SELECT e.gap_ns, iif(b.name IS @culprit@, e.top_culprit_ns, 0) AS held_ns,
		ifnull((SELECT sum(min(s.ended, e.began + e.gap_ns) - max(s.began, e.began)) FROM execution x CROSS JOIN stops s ON s.trace_id IS x.trace_id AND s.instance = (x.exec >> 52 & 4095)
			WHERE x.id = e.execution_id AND s.began < e.began + e.gap_ns AND s.ended > e.began), 0) AS stopped_ns
	FROM episodes e LEFT JOIN apps a ON a.id = e.app_id LEFT JOIN apps b ON b.id = e.top_culprit_app_id
	WHERE EXISTS (SELECT 1 FROM stops) AND a.name IS @app@ AND e.model IS @model@)
SELECT sum(stopped_ns) AS stopped_ns, max(gap_ns - stopped_ns) AS most_ns, sum(max(held_ns - stopped_ns, 0)) AS held_ns FROM lasted
