-- stretches: one row per model: the longest time for which it cannot be stopped; known: 0 if its measurement was not recorded. The longest step
-- between two checkpoints measured when it was prepared (without a measurement its median run), or the longest delay of a preemption.
SELECT m.id AS model_id, m.app_id, m.priority,
		max(coalesce(m.step_ns, m.p50_ns, 0), coalesce(d.delay_ns, 0)) AS stretch_ns,
		m.step_ns IS NOT NULL OR m.prepared IS NOT NULL AND m.p50_ns IS NOT NULL AS known, m.step_ns IS NOT NULL AS measured
	FROM (SELECT n.*, r.p50_ns FROM model n LEFT JOIN (
			SELECT app_id, model, priority, max(p50_ns) AS p50_ns FROM phase_stat WHERE phase = 'run' GROUP BY app_id, model, priority) r
			ON r.app_id IS n.app_id AND r.model = n.name AND r.priority IS n.priority) m
		LEFT JOIN (SELECT x.model_id, max(s.stopped - s.asked) AS delay_ns
			FROM preemption s CROSS JOIN involved x ON x.execution_id = s.execution_id GROUP BY x.model_id) d ON d.model_id = m.id
