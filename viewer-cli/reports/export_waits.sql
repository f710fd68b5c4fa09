-- export_waits: one row per wait of the executions :from to :to, by execution and time. n: 1, but where an execution waits through more than :each stretches
-- of a lane, one after the other, those behind the first :each are one row.
SELECT execution_id, began, ended, kind, lane, occupancy, blocker_id, blocker_app_id, cause, open, n
FROM (
	SELECT execution_id, began, ended, kind, lane, occupancy, blocker_id, blocker_app_id, cause, open, 1 AS n
	FROM wait_alone WHERE execution_id BETWEEN :from AND :to
	UNION ALL
	SELECT r.execution_id, max(r.began, o.began), min(r.ended, o.ended), r.kind, r.lane, o.occupancy, o.blocker_id, o.blocker_app_id, @cause@, r.open, 1
	FROM wait_run r CROSS JOIN occupancy o ON o.id BETWEEN r.first_id AND min(r.last_id, r.first_id + :each - 1)
	WHERE r.execution_id BETWEEN :from AND :to
	UNION ALL
	SELECT r.execution_id, max(r.began, f.began), min(r.ended, l.ended), r.kind, r.lane, NULL, NULL, NULL, NULL, r.open, r.last_id - r.first_id + 1 - :each
	FROM wait_run r CROSS JOIN occupancy f ON f.id = r.first_id + :each CROSS JOIN occupancy l ON l.id = r.last_id
	WHERE r.execution_id BETWEEN :from AND :to AND r.last_id >= r.first_id + :each)
ORDER BY execution_id, began, ended
