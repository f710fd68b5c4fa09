-- timeline_waits: one row per stretch of time that an execution was ready and not on a lane and that touches the asked span, in their order.
@with@
SELECT w.execution_id, a.name AS app, m.name AS model, x.priority, w.began - @began@ AS began_at, w.ended - @began@ AS ended_at,
	w.ended - w.began AS dur_ns, w.kind, w.lane, w.occupancy, w.cause, w.blocker_id
FROM wait w CROSS JOIN execution x ON x.id = w.execution_id LEFT JOIN apps a ON a.id = x.app_id
LEFT JOIN models m ON m.id = x.model_id
WHERE w.began < @to@ AND w.ended > @from@ AND w.execution_id BETWEEN @first@ AND @last@
ORDER BY w.began, w.execution_id, w.ended LIMIT @limit@
