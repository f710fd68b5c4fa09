-- slo_misses: one row: deadlines of the executions that a rule selects; unknown: deadlines that may or may not have been met; perhaps: executions
-- that may or may not have had one. no_client, no_service: deadlines whose outcome that side, which was not recorded, would show. unsure: executions that the rule may select, because what it selects by is
-- unknown. (LIMIT -1 is no limit: without it, SQLite would
-- compute each of these columns again wherever a sum names it.)
@with@
SELECT count(*) AS n_executions, coalesce(sum(deadline IS NOT NULL), 0) AS n_deadlines, coalesce(sum(miss IS NOT NULL), 0) AS n_missed,
	coalesce(sum(miss IS NULL AND deadline IS NOT NULL AND (quality IN ('gap', 'tail') OR quality = 'open' AND deadline < @ended@)),
		0) AS n_unknown,
	coalesce(sum(deadline IS NULL AND miss IS NOT NULL OR @deadline_unknown@), 0) AS n_perhaps,
	coalesce(sum(@outcome_unknown@ AND quality IN ('complete', 'head') AND path IS NOT 'fenced'), 0) AS n_no_client,
	coalesce(sum(@outcome_unknown@ AND quality IN ('complete', 'head') AND path IS 'fenced'), 0) AS n_no_service,
	(SELECT count(*) FROM picked WHERE (@may_select@) IS NULL) AS n_unsure
FROM (
	SELECT deadline, submitted, enqueued, returned, request_spun_ns, path, status, miss, quality, sides
	FROM picked WHERE @selection@ LIMIT -1)
