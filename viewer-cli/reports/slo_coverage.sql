-- slo_coverage: one row: executions that are known in full, those that a loss touches, and those without their beginning, which count as neither (quality head).
-- Known in full is, too, what the client gave up before it was answered, if the service ended it later, sent no result, and nothing was lost since. Leaves
-- out executions that were under way when the recording ended.
@with@,
last_loss AS MATERIALIZED (SELECT trace_id, max(ended) AS ended FROM loss GROUP BY trace_id),
judged AS (
	SELECT complete, quality, quality = 'tail' AND sides = 'both' AND status <> 'NONE' AND submitted IS NOT NULL AND returned IS NOT NULL AND run_ended IS NOT NULL
		AND result_written IS NULL AND NOT EXISTS (SELECT 1 FROM last_loss l WHERE l.trace_id = x.trace_id AND l.ended >= x.submitted) AS given_up
	FROM picked x WHERE path IS NOT 'prepare')
SELECT coalesce(sum(complete OR given_up), 0) AS n, coalesce(sum(quality IN ('gap', 'tail') AND NOT given_up), 0) AS n_unknown, coalesce(sum(quality = 'head'), 0) AS n_head FROM judged
