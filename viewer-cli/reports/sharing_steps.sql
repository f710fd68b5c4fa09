-- sharing_steps: one row per service with executions: the longest step of the models of its apps that had a lane, and whether one of these steps
-- is unknown; native: the service has no lanes; unseen: the replay of ideal sharing depends on the step,
-- or the estimate, of a model that was not recorded; restarts: its preemptions throw work away. A step is as long as it was measured when the model was prepared; but no longer than the model's median run, and no larger a part of it than it was of the run measured with it: on a busy machine both measurements contain stalls. The later estimate_ns is of
-- other runs, so it does not count. For a model that was prepared and not measured, it is the median run. Models meet their runs in one sorted list, because a join of 100 000 models with as many runs can compare each with each.
WITH services AS MATERIALIZED (
	SELECT DISTINCT trace_id, number >> 20 AS instance FROM stream WHERE executions > 0 AND trace_id IS NOT NULL AND number IS NOT NULL),
-- the median run of most executions: of the path, the priority, and of cold or warm runs, that most of them had
ran AS MATERIALIZED (SELECT app_id, model, max(n), p50_ns FROM phase_stat WHERE phase = 'run' AND path <> 'prepare' AND app_id IS NOT NULL GROUP BY 1, 2),
-- on a lane, and not run to the end. Trial runs do not count, because each runs once.
began AS MATERIALIZED (
	-- first the question whether any was not: most executions were, and the counts know
	SELECT DISTINCT model_id FROM (SELECT 1 FROM execution_count WHERE status IS NOT 'NONE' OR quality IS NOT 'complete' LIMIT 1) CROSS JOIN execution
	WHERE dispatched IS NOT NULL AND (status IS NOT 'NONE' OR NOT complete) AND path <> 'prepare' AND model_id IS NOT NULL),
told AS (
	SELECT app_id, name, step_ns, 1.0 * step_ns / nullif(measured_ns, 0) AS part, step_ns IS NULL AND prepared IS NOT NULL AS unmeasured, NULL AS p50_ns, 1 AS prepared, NULL AS had_lane
	FROM model WHERE app_id IN (SELECT app_id FROM ran UNION ALL SELECT m.app_id FROM model m JOIN began b ON b.model_id = m.id)
	UNION ALL SELECT app_id, model, NULL, NULL, NULL, p50_ns, NULL, 1 FROM ran
	UNION ALL SELECT app_id, name, NULL, NULL, NULL, NULL, NULL, 1 FROM model JOIN began ON model_id = id WHERE app_id IS NOT NULL),
steps AS (
	SELECT app_id, CASE WHEN count(prepared) = 0 THEN NULL
			WHEN max(step_ns) IS NULL THEN iif(max(unmeasured), max(p50_ns), NULL)
			ELSE min(max(step_ns), ifnull(max(p50_ns), 9223372036854775807),
				ifnull(CAST(max(part) * max(p50_ns) AS INTEGER), 9223372036854775807)) END AS step_ns,
		max(step_ns) IS NULL AND ifnull(max(unmeasured), 0) = 0 AS unseen
	FROM told GROUP BY app_id, name HAVING count(had_lane) > 0),
of_app AS MATERIALIZED (SELECT app_id, max(step_ns) AS step_ns, max(step_ns IS NULL) AS unknown, max(unseen) AS unseen FROM steps GROUP BY app_id),
-- whose apps: of one service among several. An app of many streams counts for each: the largest step is the same
of_service AS MATERIALIZED (
	SELECT t.trace_id, t.number >> 20 AS instance, max(a.step_ns) AS step_ns, max(a.unknown) AS unknown, max(a.unseen) AS unseen
	FROM stream t CROSS JOIN of_app a ON a.app_id = t.app_id GROUP BY 1, 2)
SELECT s.trace_id, s.instance, o.step_ns,
	ifnull(o.unknown, 0) OR EXISTS (SELECT 1 FROM execution_count WHERE sides <> 'client' AND app_id IS NULL) AS unknown,
	EXISTS (SELECT 1 FROM service_rules r WHERE r.trace_id = s.trace_id AND r.instance = s.instance AND r.policy = 'native') AS native,
	-- a step matters where an execution is stopped for another one; with it the estimate is lost, which matters where one is refused or given up
	ifnull(o.unseen, 0) AND (EXISTS (SELECT 1 FROM deadline_miss) OR EXISTS (
		SELECT 1 FROM service_rules r WHERE r.trace_id = s.trace_id AND r.instance = s.instance AND r.preempt <> 'none')) AS unseen,
	EXISTS (SELECT 1 FROM service_rules r WHERE r.trace_id = s.trace_id AND r.instance = s.instance AND r.preempt = 'restart') AS restarts
FROM services s LEFT JOIN of_service o ON o.trace_id = s.trace_id AND o.instance = s.instance
ORDER BY 1, 2
