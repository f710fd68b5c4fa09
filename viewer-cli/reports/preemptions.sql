-- preemptions: one row per preempted and preempting model: how often, how fast, and the cost. Delay: from the request to stop until the lane was
-- released. Leaves out nothing; an unknown model is NULL.
@with@, each AS ( -- what the next stretch did again is due to this one
	SELECT p.app_id, p.model_id, p.priority, s.by_execution_id, s.mode, s.stopped - s.asked AS delay_ns,
		s.resumed - s.stopped AS off_lane_ns,
		coalesce(lead(s.redo_ns) OVER (PARTITION BY s.execution_id ORDER BY s.stopped),
			p.redo_ns - sum(s.redo_ns) OVER (PARTITION BY s.execution_id)) AS redo_ns
	FROM preemption s CROSS JOIN involved p ON p.execution_id = s.execution_id @only_preempted@)
SELECT w.name AS app, o.name AS model, e.priority, a.name AS for_app, m.name AS for_model, b.priority AS for_priority, count(*) AS n_times,
	percentile(e.delay_ns, 50) AS delay_p50_ns, percentile(e.delay_ns, 99) AS delay_p99_ns, max(e.delay_ns) AS delay_max_ns,
	sum(e.off_lane_ns) AS off_lane_ns, sum(e.redo_ns) AS redo_ns, max(d.step_ns) AS step_ns,
	percentile(e.off_lane_ns, 50) AS off_lane_p50_ns, sum(e.off_lane_ns IS NULL) AS n_not_resumed, e.mode
FROM each e
	LEFT JOIN involved b ON b.execution_id = e.by_execution_id
	LEFT JOIN models m ON m.id = b.model_id
	LEFT JOIN apps a ON a.id = b.app_id
	LEFT JOIN model d ON d.id = e.model_id
	LEFT JOIN apps w ON w.id = e.app_id
	LEFT JOIN models o ON o.id = e.model_id
GROUP BY e.app_id, o.name, e.priority, b.app_id, m.name, b.priority, e.mode
ORDER BY n_times DESC, w.name, o.name, e.priority, for_app, for_model, for_priority, e.mode
