-- slo_coverage: one row: complete executions, and those that a loss touches. Leaves out executions that were under way when the recording began or
-- ended.
@with@
SELECT coalesce(sum(complete), 0) AS n, coalesce(sum(quality IN ('gap', 'tail')), 0) AS n_unknown FROM picked WHERE path IS NOT 'prepare'
