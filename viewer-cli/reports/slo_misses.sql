-- slo_misses: one row: deadlines of the executions that a rule selects; unknown: deadlines that may or may not have been met; perhaps: executions
-- that may or may not have had one. no_client, no_service: deadlines whose outcome that side, which was not recorded, would show.
@with@
SELECT count(*) AS n_executions, coalesce(sum(deadline IS NOT NULL), 0) AS n_deadlines, coalesce(sum(miss IS NOT NULL), 0) AS n_missed,
	coalesce(sum(miss IS NULL AND deadline IS NOT NULL AND (quality IN ('gap', 'tail') OR quality = 'open' AND deadline < @ended@)),
		0) AS n_unknown,
	coalesce(sum(deadline IS NULL AND miss IS NOT NULL OR @deadline_unknown@), 0) AS n_perhaps,
	coalesce(sum(@outcome_unknown@ AND quality IN ('complete', 'head') AND path IS NOT 'fenced'), 0) AS n_no_client,
	coalesce(sum(@outcome_unknown@ AND quality IN ('complete', 'head') AND path IS 'fenced'), 0) AS n_no_service
FROM picked WHERE @selection@
