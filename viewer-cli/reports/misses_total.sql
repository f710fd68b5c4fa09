-- misses_total: one row: number of executions, of deadlines, and of misses by kind; n_unknown: executions that may or may not have had a deadline;
-- n_unseen: deadlines that may or may not have been met: then there is no percentage.
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
