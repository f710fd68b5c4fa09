-- misses_total: one row: how many executions, how many of them had a deadline, how many missed it, and how; n_unknown: of how many it is not
-- known whether they had one; n_unseen: of how many deadlines it is not known whether they were met: then there is no percentage.
@with@, kinds AS (@kinds@)
SELECT n_executions, n_deadlines, n_missed, CASE WHEN n_deadlines > 0 AND n_unknown + n_unseen = 0 THEN 100.0 * n_missed / n_deadlines END AS missed_percent,
	n_late, n_aborted, n_predicted, n_persistent, n_unknown, n_unseen
FROM (
	SELECT coalesce(sum(n), 0) AS n_executions, coalesce(sum(deadlines), 0) AS n_deadlines,
		coalesce(sum(n) FILTER (WHERE miss IS NOT NULL), 0) AS n_missed,
		coalesce(sum(n) FILTER (WHERE miss = 'late'), 0) AS n_late,
		coalesce(sum(n) FILTER (WHERE miss = 'aborted'), 0) AS n_aborted,
		coalesce(sum(n) FILTER (WHERE miss = 'predicted'), 0) AS n_predicted,
		coalesce(sum(n) FILTER (WHERE miss IS NOT NULL AND status = 'MISSED_DEADLINE_PERSISTENT'), 0) AS n_persistent,
		coalesce(sum(unknown), 0) AS n_unknown, coalesce(sum(unseen), 0) AS n_unseen
	FROM kinds)
