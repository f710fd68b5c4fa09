-- preemptions_models: one row per model that was taken off its lane: how often, of how many executions, for how long, and what was redone.
-- Leaves out models that were not.
@with@, each AS (
	SELECT p.id, p.app_id, p.app, p.model, p.priority, p.redo_ns, p.preempted_ns, count(*) AS n, max(s.stopped - s.asked) AS delay_ns
	FROM preemption s CROSS JOIN picked p ON p.id = s.execution_id GROUP BY s.execution_id)
SELECT app, model, priority, count(*) AS n_executions, sum(n) AS n_preemptions, sum(preempted_ns) AS preempted_ns, sum(redo_ns) AS redo_ns,
	max(preempted_ns) AS preempted_max_ns, max(delay_ns) AS delay_max_ns, max(n) AS n_most_of_one
FROM each GROUP BY app_id, model, priority ORDER BY n_preemptions DESC, app, model, priority
