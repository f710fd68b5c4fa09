-- preparations: one row per app and model whose preparation had a deadline: how many there were, how many missed it, and how.
-- late: the model was there after the deadline; refused: given up for it. Leaves out preparations without a deadline.
@with@, asked AS (
	SELECT app_id, ifnull(name, '') AS model, prepared - deadline AS over_ns, prepare_ns, status = 'NONE' AND prepared > deadline AS late,
		status IN ('MISSED_DEADLINE_TRANSIENT', 'MISSED_DEADLINE_PERSISTENT') AS refused
	FROM model WHERE deadline IS NOT NULL AND status IS NOT NULL)
SELECT a.name AS app, nullif(p.model, '') AS model, count(*) AS n_deadlines, ifnull(sum(p.late), 0) + sum(p.refused) AS n_missed,
	ifnull(sum(p.late), 0) AS n_late, sum(p.refused) AS n_refused, max(p.over_ns) FILTER (WHERE p.late) AS worst_ns,
	max(p.prepare_ns) AS longest_ns
FROM asked p LEFT JOIN apps a ON a.id = p.app_id
GROUP BY p.app_id, p.model ORDER BY n_missed DESC, n_deadlines DESC, app, model, p.app_id
