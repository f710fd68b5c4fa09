-- slo_executions: one row: executions that a rule selects. unsure: executions of which what the rule selects by is unknown, so that it may select them.
-- (LIMIT -1 is no limit: without it, SQLite would compute the condition again wherever a sum names it.)
@with@
SELECT coalesce(sum(selected), 0) AS n_executions, coalesce(sum(selected IS NULL), 0) AS n_unsure
FROM (SELECT (@may_select@) AS selected FROM picked LIMIT -1)
