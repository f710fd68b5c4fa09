-- slo_misses: one row: deadlines of the executions that a rule means; unknown: there is one, and nobody saw whether it was met; perhaps: nobody saw whether there is one.
@with@
SELECT count(*) AS n_executions, coalesce(sum(deadline IS NOT NULL), 0) AS n_deadlines, coalesce(sum(miss IS NOT NULL), 0) AS n_missed,
	coalesce(sum(miss IS NULL AND deadline IS NOT NULL AND (quality IN ('gap', 'tail') OR quality = 'open' AND deadline < @ended@)),
		0) AS n_unknown,
	coalesce(sum(deadline IS NULL AND (miss IS NOT NULL OR sides = 'service' OR quality IN ('gap', 'tail'))), 0) AS n_perhaps
FROM picked WHERE @selection@
