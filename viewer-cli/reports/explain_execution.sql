-- explain_execution: one row: one execution. Times count from the start of the recording; began_at and ended_at are its first and its last recorded
-- event; left_at: when the app's call failed, before the service had answered.
@with@,
first AS (
	SELECT *, coalesce(submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, run_ended, result_written,
		result_read, returned, signalled) AS began
	FROM execution WHERE id = @id@),
one AS (
	SELECT *, max(began, ifnull(submitted, began), ifnull(request_written, began), ifnull(request_read, began),
		ifnull(decoded, began), ifnull(fenced, began), ifnull(enqueued, began), ifnull(dispatched, began),
		ifnull(run_ended, began), ifnull(result_written, began), ifnull(result_read, began), ifnull(returned, began),
		ifnull(signalled, began)) AS ended
	FROM first),
@estimate@
SELECT x.id, iif(s.number IS NULL, '?', printf('0x%x', s.number)) || '/' || x.seq AS exec, a.name AS app, m.name AS model, x.priority, x.path, x.status, x.miss,
	x.quality, x.sides, x.cold, x.lane, x.preemptions, x.bypassed,
	x.began - @began@ AS began_at, x.ended - @began@ AS ended_at, x.deadline - @began@ AS deadline_at,
	coalesce(x.submitted, CASE x.sides WHEN 'service' THEN x.request_read END) - @began@ AS submitted_at,
	x.e2e_ns, x.run_ns, x.redo_ns, x.cpu_ns, x.e2e_ns - x.run_ns + x.redo_ns AS overhead_ns,
	x.deadline - coalesce(x.submitted, CASE x.sides WHEN 'service' THEN x.request_read END) AS budget_ns, x.lateness_ns,
	(SELECT c.cause FROM miss_cause c WHERE c.execution_id = x.id AND c.is_primary) AS primary_cause,
	(SELECT count(*) FROM loss l WHERE l.trace_id = x.trace_id AND l.began <= x.ended AND l.ended >= x.began) AS n_losses,
	coalesce((SELECT max(t.n) FROM typical t WHERE t.model_id = x.model_id AND t.path = x.path), iif(EXISTS (SELECT 1 FROM estimate), 0, NULL)) AS n_typical,
	nullif((SELECT max(t.runs) FROM typical t WHERE t.model_id = x.model_id AND t.path = x.path), 0) AS n_typical_runs,
	iif(EXISTS (SELECT 1 FROM estimate), 1, (SELECT max(t.estimated) FROM typical t WHERE t.model_id = x.model_id AND t.path = x.path)) AS typical_estimated,
	(SELECT u.p50_ns FROM usual_budget u WHERE u.model_id = x.model_id AND u.path = x.path) AS usual_budget_ns,
	x.submit_delay_ns, x.submit_gap_ns, x.submit_turns,
	(SELECT l.lead_ns FROM late_start l WHERE l.execution_id = x.id AND l.delay_ns IS NOT NULL) AS lead_ns,
	(SELECT l.met FROM late_start l WHERE l.execution_id = x.id AND l.delay_ns IS NOT NULL) AS lead_met,
	CASE WHEN x.status <> 'NONE' AND x.signalled IS NULL AND (x.returned < x.result_written OR x.miss = 'late' OR x.quality = 'tail' AND x.result_written IS NULL AND x.result_read IS NULL) THEN x.returned - @began@ END AS left_at
FROM one x LEFT JOIN stream s ON s.id = x.stream_id LEFT JOIN apps a ON a.id = x.app_id LEFT JOIN models m ON m.id = x.model_id
