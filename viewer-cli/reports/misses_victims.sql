-- misses_victims: one row per @group@ with deadlines: how many, how many were missed, and why most of those.
-- n_unknown: executions of which it is not known whether they had one; n_unseen: deadlines of which it is not known
-- whether they were met; then there is no percentage. Leaves out who had no deadline.
@with@, kinds AS (@kinds@),
-- FILTER: SQLite allocates memory for a sum, of each group, when it adds the first number
had AS (
	SELECT @keys@, ifnull(sum(deadlines) FILTER (WHERE deadlines), 0) AS n_deadlines, coalesce(sum(n) FILTER (WHERE miss IS NOT NULL), 0) AS n_missed,
		coalesce(sum(n) FILTER (WHERE miss = 'late'), 0) AS n_late,
		coalesce(sum(n) FILTER (WHERE miss = 'aborted'), 0) AS n_aborted,
		coalesce(sum(n) FILTER (WHERE miss = 'predicted'), 0) AS n_predicted,
		coalesce(sum(n) FILTER (WHERE miss IS NOT NULL AND status = 'MISSED_DEADLINE_PERSISTENT'), 0) AS n_persistent,
		ifnull(sum(unknown) FILTER (WHERE unknown), 0) AS n_unknown, ifnull(sum(unseen) FILTER (WHERE unseen), 0) AS n_unseen
	FROM kinds GROUP BY @keys@ HAVING n_deadlines > 0 OR n_missed > 0 OR n_unknown > 0),
@why@,
-- together, so that SQLite looks both up by their keys: of thousands of apps it would look for the first cause of each among all
known AS (
	SELECT @keys@, max(cause) AS cause, max(worst_ns) AS worst_ns
	FROM (SELECT @keys@, NULL AS cause, worst_ns FROM worst UNION ALL SELECT @keys@, cause, NULL FROM causes WHERE place = 1) GROUP BY @keys@)
SELECT (SELECT a.name FROM apps a WHERE a.id = h.app_id) AS app, @names@ h.n_deadlines, h.n_missed,
	CASE WHEN h.n_deadlines > 0 AND h.n_unknown + h.n_unseen = 0 THEN 100.0 * h.n_missed / h.n_deadlines END AS missed_percent,
	w.cause AS most_by, h.n_late, h.n_aborted, h.n_predicted, h.n_persistent, w.worst_ns, h.n_unknown, h.n_unseen
FROM had h LEFT JOIN known w ON @same_w@
ORDER BY h.n_missed DESC, h.n_deadlines DESC, app, @order@ h.app_id
