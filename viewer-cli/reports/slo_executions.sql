-- slo_executions: one row: executions that a rule selects. unsure: executions of which what the rule selects by is unknown, so that it may select them.
-- trials: what it may select, but may be a trial run. (LIMIT -1 is no limit: without it, SQLite would compute the conditions again wherever a sum names them.)
@with@
SELECT coalesce(sum(selected AND NOT trial), 0) AS n_executions, coalesce(sum(selected IS NULL AND NOT trial), 0) AS n_unsure,
	coalesce(sum(ifnull(selected, 1) AND trial), 0) AS n_trials
FROM (SELECT (@may_select@) AS selected, (@may_be_trial@) AS trial FROM picked LIMIT -1)
