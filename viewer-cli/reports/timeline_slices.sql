-- timeline_slices: one row per stretch of time that an execution held a lane and that touches the asked span, in their order. Leaves out uncertain
-- stretches.
@with@
SELECT s.trace_id, s.instance, s.lane, s.execution_id, a.name AS app, m.name AS model, x.priority,
	s.began - @began@ AS began_at, s.ended - @began@ AS ended_at, s.ended - s.began AS dur_ns
FROM lane_slice s CROSS JOIN execution x ON x.id = s.execution_id LEFT JOIN apps a ON a.id = x.app_id
LEFT JOIN models m ON m.id = x.model_id
WHERE s.began < @to@ AND s.ended > @from@ AND s.execution_id BETWEEN @first@ AND @last@
ORDER BY s.began, s.trace_id, s.instance, s.lane LIMIT @limit@
