-- preparations: one row per app and model whose preparation had a deadline: how many there were, and how many missed it, by kind. late: the model was
-- ready, or the app had the answer, after the deadline; refused: stopped because of the deadline. Leaves out preparations without a deadline.
@with@, returned AS ( -- the app had it, and said that it was late
	SELECT model_id, max(over_ns) AS over_ns FROM deadline_miss WHERE execution_id IS NULL AND stage = 'returned' AND model_id IS NOT NULL GROUP BY model_id),
asked AS (
	SELECT m.app_id, ifnull(m.name, '') AS model, m.deadline, max(m.prepared - m.deadline, ifnull(r.over_ns, m.prepared - m.deadline)) AS over_ns, m.prepare_ns,
		m.status = 'NONE' AND (m.prepared > m.deadline OR r.model_id IS NOT NULL) AS late,
		m.status IN ('MISSED_DEADLINE_TRANSIENT', 'MISSED_DEADLINE_PERSISTENT') AS refused
	FROM model m LEFT JOIN returned r ON r.model_id = m.id WHERE m.deadline IS NOT NULL AND m.status IS NOT NULL)
SELECT a.name AS app, nullif(p.model, '') AS model, count(*) AS n_deadlines, ifnull(sum(p.late), 0) + sum(p.refused) AS n_missed,
	ifnull(sum(p.late), 0) AS n_late, sum(p.refused) AS n_refused, max(p.over_ns) FILTER (WHERE p.late) AS worst_ns,
	max(p.prepare_ns) AS longest_ns,
	min(p.deadline) FILTER (WHERE p.late OR p.refused) - @began@ AS first_at, max(p.deadline) FILTER (WHERE p.late OR p.refused) - @began@ AS last_at
FROM asked p LEFT JOIN apps a ON a.id = p.app_id
GROUP BY p.app_id, p.model ORDER BY n_missed DESC, n_deadlines DESC, app, model, p.app_id
