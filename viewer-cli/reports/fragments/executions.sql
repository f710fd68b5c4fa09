-- overhead_of_execution: the overhead of an execution p, which no column has.
CASE WHEN p.redo_ns <= p.run_ns AND p.run_ns - p.redo_ns <= p.e2e_ns THEN p.e2e_ns - (p.run_ns - p.redo_ns) END
-- phase_of_execution: the time that an execution p was in a phase.
p.@phase@_ns
-- slo_selection: the executions that a rule of check is about. @start@: slo_cold, slo_warm, or empty.
path IS NOT 'prepare'@start@
-- slo_cold: a condition more on executions.
 AND cold
-- slo_warm: a condition more on executions.
 AND NOT cold
-- slo_is_of: a condition more on executions, on the name of their app or model; NULL: the name was not recorded. @unnamed@: slo_unnamed_apps, or slo_unnamed_models.
 AND iif(@what@ <> @value@ AND @what@_id IN (@unnamed@), NULL, @what@ = @value@)
-- slo_unnamed_apps: apps whose name was not recorded.
SELECT id FROM app WHERE name = ''
-- slo_unnamed_models: models whose name was not recorded.
SELECT id FROM model WHERE name IN ('', 'model ' || number)
-- slo_is_cold: a condition more on executions; NULL: unknown. Those that are no bursts are neither cold nor warm.
 AND iif(path <> 'burst', 0, cold)
-- slo_is_warm: a condition more on executions.
 AND iif(path <> 'burst', 0, NOT cold)
-- slo_hides: executions whose streams may have others that a rule selects. @streams@, @bursts@: slo_selection, as far as it is of all streams, and of bursts alone.
ifnull(@streams@, 1) AND ifnull(path <> 'burst' OR (@bursts@), 1)
-- may_be_trial: a condition on executions: a trial run may be all that it is: its path was not recorded, and no app is known to have asked for it.
path IS NULL AND miss IS NULL
	AND coalesce(submitted, request_written, request_read, decoded, fenced, result_written, result_read, returned, signalled, deadline) IS NULL
-- slo_has_fence: a condition more on executions: those that have fences, and a signal.
(path IS NULL OR path = 'fenced')
-- slo_has_answer: a condition more on executions: those whose call returns with the answer.
path IS NOT 'fenced'
-- slo_has_all: a condition more on executions: no phase that not all of them have is asked for.
1
-- slo_seen_ns: the least latency of an execution whose submission was not recorded: what was seen of it.
ifnull(e2e_ns, iif(path = 'fenced', coalesce(signalled, run_ended), coalesce(returned, result_written, run_ended)) - request_read)
-- slo_overhead_percent: the part of a latency that is overhead.
100.0 * (@e2e@ - (run_ns - ifnull(redo_ns, 0))) / nullif(@e2e@, 0)
-- slo_overhead_ns: the overhead of a latency.
@e2e@ - (run_ns - ifnull(redo_ns, 0))
-- wait_run_cause: the cause of a wait of the wait_run r through the occupancy o, as the relation wait has it.
CASE WHEN o.occupancy = 'unknown' THEN 'unknown' WHEN o.occupancy = 'idle' THEN 'handover' WHEN r.kind = 'preempted' THEN 'preempted'
	WHEN r.app_id IS NULL OR o.blocker_app_id IS NULL THEN 'unknown'
	WHEN r.app_id <> o.blocker_app_id THEN iif(o.hogging, 'hogged', 'crowded_out')
	WHEN r.level IS NULL OR o.level IS NULL THEN 'unknown' WHEN o.level < r.level THEN 'inversion' ELSE 'queued_behind' END
-- picked_ids: the ids of the picked executions.
@with@
SELECT id FROM picked
-- slo_traces: one row per trace: the end of its recording, and of its last loss.
SELECT t.id, t.recorded_until, l.ended FROM trace t LEFT JOIN (SELECT trace_id, max(ended) AS ended FROM loss GROUP BY trace_id) l ON l.trace_id = t.id
ORDER BY t.id
-- rows_kept: the rows that kept_rows has put into a table, in their order.
SELECT * FROM temp.kept_rows ORDER BY rowid
-- scope_outside: a statement: one row: of the executions outside of the scope, how many were seen from the service alone, from the client alone, and without
-- their beginning.
SELECT count(*) FILTER (WHERE sides = 'service' AND path IS NOT 'prepare'), count(*) FILTER (WHERE sides = 'client'), count(*) FILTER (WHERE quality = 'head')
	FROM execution WHERE stream_id IS NULL OR stream_id NOT IN (@streams@)
