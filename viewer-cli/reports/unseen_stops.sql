-- unseen_stops: one row per model an execution of which may have been preempted unseen: the longest time that this may have taken. Its sched_preempt was
-- lost, so it left its lane within a loss, while the lane's holder is unknown; it may have been asked to leave as soon as it was there. Leaves out
-- models all of whose executions are complete: they lost no preemption.
SELECT m.id AS model_id, max(w.ns) AS ns
FROM (
	SELECT x.model_id, max(min(u.ended, u.lost_until) - u.began) AS ns -- no model: of any
	FROM (
		-- of the losses that began before the end of a time, the one that ended last
		SELECT execution_id, began, at AS ended, max(lost_until) OVER (ORDER BY at, began IS NOT NULL ROWS UNBOUNDED PRECEDING) AS lost_until
		FROM (
			SELECT ifnull(began, -4611686018427387903) AS at, ifnull(ended, 4611686018427387903) AS lost_until, NULL AS began, NULL AS execution_id FROM loss
			UNION ALL
			SELECT ended, NULL, ifnull(began, -4611686018427387903), execution_id FROM unknown_lane WHERE execution_id IS NOT NULL
			UNION ALL -- an execution of which nothing is known may have held a lane as long as that may be so: adjacent times are one
			SELECT max(ended), NULL, min(began), NULL
			FROM (SELECT instance, lane, began, ended, sum(before IS NULL OR before < began) OVER (PARTITION BY instance, lane ORDER BY began, ended ROWS UNBOUNDED PRECEDING) AS part
				FROM (SELECT instance, lane, began, ended, max(ended) OVER (PARTITION BY instance, lane ORDER BY began, ended ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
					FROM (SELECT instance, lane, ifnull(began, -4611686018427387903) AS began, ended FROM unknown_lane WHERE execution_id IS NULL)))
			GROUP BY instance, lane, part)) u
		LEFT JOIN execution x ON x.id = u.execution_id
	WHERE u.began <= u.lost_until AND EXISTS (SELECT 1 FROM loss) GROUP BY x.model_id) w
	CROSS JOIN model m ON m.id = w.model_id OR w.model_id IS NULL AND (
		-- may there have been executions of which no event tells? (The services number them.)
		NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unseen_executions' AND value = 0)
		OR NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unseen_unknown' AND value = 0)
		OR EXISTS (SELECT 1 FROM execution_count c WHERE c.quality <> 'complete' AND c.sides <> 'client'
			AND (c.app_id = m.app_id OR c.app_id IS NULL) AND (c.priority = m.priority OR c.priority IS NULL)))
GROUP BY m.id
