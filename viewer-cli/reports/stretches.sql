-- stretches: one row per model: how long it cannot be stopped.
-- The longest stretch between two of its checkpoints that was measured when it was prepared (its median run, if that was not
-- measured), or the longest that stopping it took.
SELECT m.id AS model_id,
		max(coalesce(m.step_ns, (SELECT max(p50_ns) FROM phase_stat s
			WHERE s.phase = 'run' AND s.app_id IS m.app_id AND s.model = m.name AND s.priority IS m.priority), 0),
			coalesce(d.delay_ns, 0)) AS stretch_ns
	FROM model m LEFT JOIN (
		SELECT x.model_id, max(s.stopped - s.asked) AS delay_ns
		FROM preemption s CROSS JOIN execution x ON x.id = s.execution_id GROUP BY x.model_id) d ON d.model_id = m.id
