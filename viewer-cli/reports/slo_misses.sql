-- slo_misses: one row: deadlines of the executions that a rule means; unknown: there is one, and nobody saw whether it was met; perhaps: nobody saw whether there is one.
-- no_client, no_service: there is one, and that side, which was not recorded, knows whether it was met.
@with@
SELECT count(*) AS n_executions, coalesce(sum(deadline IS NOT NULL), 0) AS n_deadlines, coalesce(sum(miss IS NOT NULL), 0) AS n_missed,
	coalesce(sum(miss IS NULL AND deadline IS NOT NULL AND (quality IN ('gap', 'tail') OR quality = 'open' AND deadline < @ended@)),
		0) AS n_unknown,
	coalesce(sum(deadline IS NULL AND (miss IS NOT NULL OR sides = 'service' OR quality IN ('gap', 'tail'))), 0) AS n_perhaps,
	coalesce(sum(@outcome_unknown@ AND quality IN ('complete', 'head') AND path IS NOT 'fenced'), 0) AS n_no_client,
	coalesce(sum(@outcome_unknown@ AND quality IN ('complete', 'head') AND path IS 'fenced'), 0) AS n_no_service
FROM picked WHERE @selection@
