-- sharing_steps: one row per service with executions: the longest step of the models that its apps prepared, and whether the step of an executed
-- model is unknown; for a model that was prepared and not measured, its median run; native: the service has no lanes. Models meet their runs and
-- executions in one sorted list, because a join of 100 000 models with as many runs can compare each with each.
WITH services AS MATERIALIZED (
	SELECT trace_id, number >> 20 AS instance FROM stream WHERE executions > 0 AND trace_id IS NOT NULL AND number IS NOT NULL GROUP BY 1, 2),
-- whose apps: of one service among several
theirs AS MATERIALIZED (SELECT DISTINCT trace_id, number >> 20 AS instance, app_id FROM stream WHERE app_id IS NOT NULL),
told AS (
	SELECT app_id, name, step_ns, step_ns IS NULL AND prepared IS NOT NULL AS unmeasured, NULL AS p50_ns, 1 AS prepared, NULL AS executed
	FROM model WHERE app_id IS NOT NULL
	UNION ALL SELECT app_id, model, NULL, NULL, p50_ns, NULL, NULL FROM phase_stat WHERE phase = 'run' AND app_id IS NOT NULL
	UNION ALL SELECT app_id, model, NULL, NULL, NULL, NULL, 1 FROM execution_count WHERE sides <> 'client' AND app_id IS NOT NULL),
steps AS (
	SELECT app_id, count(executed) > 0 AS executed,
		CASE WHEN count(prepared) > 0 THEN nullif(max(ifnull(max(step_ns), -1), iif(max(unmeasured), ifnull(max(p50_ns), -1), -1)), -1) END AS step_ns
	FROM told GROUP BY app_id, name),
of_app AS MATERIALIZED (SELECT app_id, max(step_ns) AS step_ns, max(executed AND step_ns IS NULL) AS unknown FROM steps GROUP BY app_id),
of_service AS MATERIALIZED (
	SELECT t.trace_id, t.instance, max(a.step_ns) AS step_ns, max(a.unknown) AS unknown
	FROM theirs t CROSS JOIN of_app a ON a.app_id = t.app_id GROUP BY 1, 2)
SELECT s.trace_id, s.instance, o.step_ns,
	ifnull(o.unknown, 0) OR EXISTS (SELECT 1 FROM execution_count WHERE sides <> 'client' AND app_id IS NULL) AS unknown,
	EXISTS (SELECT 1 FROM service_rules r WHERE r.trace_id = s.trace_id AND r.instance = s.instance AND r.policy = 'native') AS native
FROM services s LEFT JOIN of_service o ON o.trace_id = s.trace_id AND o.instance = s.instance
ORDER BY 1, 2
