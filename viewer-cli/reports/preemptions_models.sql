-- preemptions_models: one row per preempted model: how often, of how many executions, for how long, and the work done again. Leaves out models that
-- were not preempted.
@with@, each AS (
	SELECT p.app_id, p.model_id, p.priority, p.redo_ns, p.preempted_ns, count(*) AS n, max(s.stopped - s.asked) AS delay_ns
	FROM preemption s CROSS JOIN involved p ON p.execution_id = s.execution_id @only_preempted@ GROUP BY s.execution_id)
SELECT a.name AS app, m.name AS model, e.priority, count(*) AS n_executions, sum(n) AS n_preemptions, sum(preempted_ns) AS preempted_ns, sum(redo_ns) AS redo_ns,
	max(preempted_ns) AS preempted_max_ns, max(delay_ns) AS delay_max_ns, max(n) AS n_most_of_one
FROM each e LEFT JOIN apps a ON a.id = e.app_id LEFT JOIN models m ON m.id = e.model_id
GROUP BY e.app_id, m.name, e.priority ORDER BY n_preemptions DESC, a.name, m.name, e.priority
