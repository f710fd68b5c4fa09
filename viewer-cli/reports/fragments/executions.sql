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
-- slo_seen_ns: the least latency of an execution whose submission was not recorded: what was seen of it.
ifnull(e2e_ns, iif(path = 'fenced', coalesce(signalled, run_ended), coalesce(returned, result_written, run_ended)) - request_read)
-- slo_value: what a rule judges of an execution; the least that it can be, where the beginning was not recorded.
iif(quality = 'head', @least@, @value@)
-- slo_so_far: the time that an execution has taken so far that is under way at the end of the recording, where that end is known.
CASE WHEN quality = 'open' AND iif(path = 'fenced', signalled, returned) IS NULL
	THEN (SELECT t.recorded_until FROM trace t WHERE t.id = x.trace_id) - submitted END
-- slo_deadlines: what rules about deadlines count of an execution.
deadline IS NOT NULL AS had_deadline, miss IS NOT NULL AS missed,
	miss IS NULL AND deadline IS NOT NULL AND (quality IN ('gap', 'tail') OR quality = 'open' AND deadline < @ended@) AS unsure,
	deadline IS NULL AND miss IS NOT NULL OR @deadline_unknown@ AS perhaps,
	@outcome_unknown@ AND quality IN ('complete', 'head') AS untold, path IS 'fenced' AS fenced
-- slo_deadline_columns: the columns of executions that slo_deadlines needs beside the others.
deadline, miss, request_spun_ns
-- slo_run_columns: the columns of executions that an overhead needs beside the others.
run_ns, redo_ns
-- slo_no_deadlines: the same columns, where no rule is about deadlines.
0 AS had_deadline, 0 AS missed, 0 AS unsure, 0 AS perhaps, 0 AS untold, 0 AS fenced
-- slo_given_up: whether the client gave an execution up, for a rule about coverage.
quality = 'tail' AND sides = 'both' AND status <> 'NONE' AND submitted IS NOT NULL AND returned IS NOT NULL AND run_ended IS NOT NULL
	AND result_written IS NULL AND NOT EXISTS (SELECT 1 FROM last_loss l WHERE l.trace_id = x.trace_id AND l.ended >= x.submitted)
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
