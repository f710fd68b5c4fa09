-- waits_by_holder_picked: waits_by_holder over the waits of the picked executions; for a FROM.
SELECT w.blocker_app_id AS by_app_id, p.app_id, sum(w.ended - w.began) AS ns
	FROM picked p CROSS JOIN wait w ON w.execution_id = p.id
	WHERE w.occupancy = 'held' AND w.blocker_app_id IS NOT NULL AND p.app_id IS NOT NULL GROUP BY 1, 2
