-- explain_preemptions: the preemptions of one execution, in their order, each with the execution that took the lane.
@with@
SELECT p.lane, p.asked - @began@ AS asked_at, p.stopped - @began@ AS stopped_at, p.resumed - @began@ AS resumed_at,
	p.stopped - p.asked AS delay_ns, p.mode, p.at_op, p.redo_ns, p.by_execution_id, a.name AS by_app, m.name AS by_model,
	b.priority AS by_priority
FROM preemption p LEFT JOIN execution b ON b.id = p.by_execution_id LEFT JOIN apps a ON a.id = b.app_id
LEFT JOIN models m ON m.id = b.model_id
WHERE p.execution_id = @id@ ORDER BY p.stopped, p.asked, p.by_execution_id
