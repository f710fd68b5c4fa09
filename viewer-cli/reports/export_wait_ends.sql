-- export_wait_ends: one row: the last end and the first beginning of the waits of the execution :id.
SELECT max(ended), min(began)
FROM (
	SELECT began, ended FROM wait_alone WHERE execution_id = :id
	UNION ALL
	SELECT max(r.began, f.began), min(r.ended, l.ended)
	FROM wait_run r CROSS JOIN occupancy f ON f.id = r.first_id CROSS JOIN occupancy l ON l.id = r.last_id WHERE r.execution_id = :id)
