-- slo_coverage: one row: complete executions, those that a loss touches, and those without their beginning, which count as neither (quality head). Leaves
-- out executions that were under way when the recording ended.
@with@
SELECT coalesce(sum(complete), 0) AS n, coalesce(sum(quality IN ('gap', 'tail')), 0) AS n_unknown, coalesce(sum(quality = 'head'), 0) AS n_head FROM picked WHERE path IS NOT 'prepare'
