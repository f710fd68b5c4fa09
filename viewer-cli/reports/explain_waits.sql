-- explain_waits: the stretches of time that one execution was ready and not on a lane, with the holder of the lane, in their order.
@with@
SELECT w.began - @began@ AS began_at, w.ended - w.began AS dur_ns, w.kind, w.lane, w.occupancy, w.cause,
	w.blocker_id, a.name AS blocker_app, m.name AS blocker_model, b.priority AS blocker_priority
FROM wait w LEFT JOIN execution b ON b.id = w.blocker_id LEFT JOIN apps a ON a.id = w.blocker_app_id
LEFT JOIN models m ON m.id = b.model_id
WHERE w.execution_id = @id@ ORDER BY w.began, w.ended
