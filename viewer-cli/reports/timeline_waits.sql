-- timeline_waits: one row per stretch of time that an execution was ready and not on a lane and that touches the asked span, in their order.
-- Many executions that wait through many stretches of a lane have as many rows as both multiplied: this query finds out until when there are enough
-- rows, without making them, and makes only these.
@with@,
runs AS MATERIALIZED (SELECT * FROM wait_run WHERE began < @to@ AND ended > @from@ AND execution_id BETWEEN @first@ AND @last@),
crowded AS ( -- runs: the number of them that have more of this stretch than its end, and begin before it
	SELECT began, ended, sum(change) OVER (ORDER BY id) AS runs
	FROM (
		SELECT id, began, ended, 0 AS change FROM occupancy
		UNION ALL SELECT first_id + 1, NULL, NULL, 1 FROM runs WHERE last_id > first_id + 1
		UNION ALL SELECT last_id, NULL, NULL, -1 FROM runs WHERE last_id > first_id + 1)),
enough AS MATERIALIZED (
	SELECT ifnull(min(began), @to@) AS began
	FROM (SELECT began, sum(runs) OVER (ORDER BY began ROWS UNBOUNDED PRECEDING) AS total FROM crowded WHERE ended > @from@ AND began < @to@)
	WHERE total >= @limit@),
reached AS MATERIALIZED (
	SELECT lane_id, min(id) AS first_id, max(id) AS last_id FROM occupancy
	WHERE began <= (SELECT began FROM enough) AND ended > @from@ GROUP BY lane_id),
waits AS (
	SELECT execution_id, began, ended, kind, lane, occupancy, cause, blocker_id FROM wait_alone
	UNION ALL
	SELECT r.execution_id, max(r.began, o.began), min(r.ended, o.ended), r.kind, r.lane, o.occupancy, @cause@, o.blocker_id
	FROM runs r CROSS JOIN reached l ON l.lane_id = r.lane_id
		CROSS JOIN occupancy o ON o.id BETWEEN max(r.first_id, l.first_id) AND min(r.last_id, l.last_id)
	WHERE r.began <= (SELECT began FROM enough))
SELECT w.execution_id, a.name AS app, m.name AS model, x.priority, w.began - @began@ AS began_at, w.ended - @began@ AS ended_at,
	w.ended - w.began AS dur_ns, w.kind, w.lane, w.occupancy, w.cause, w.blocker_id
FROM waits w CROSS JOIN execution x ON x.id = w.execution_id LEFT JOIN apps a ON a.id = x.app_id
LEFT JOIN models m ON m.id = x.model_id
WHERE w.began < @to@ AND w.ended > @from@ AND w.execution_id BETWEEN @first@ AND @last@
ORDER BY w.began, w.execution_id, w.ended LIMIT @limit@
