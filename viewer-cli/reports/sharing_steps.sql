-- sharing_steps: one row per service that had executions: the longest step of the models that its apps prepared, and whether that of a model
-- which was executed is not known; of one that was prepared and not measured it is its median run; native: it has no lanes.
WITH services AS MATERIALIZED (
	SELECT trace_id, number >> 20 AS instance FROM stream WHERE executions > 0 AND trace_id IS NOT NULL AND number IS NOT NULL GROUP BY 1, 2),
-- whose apps: of one service among several
theirs AS MATERIALIZED (SELECT DISTINCT trace_id, number >> 20 AS instance, app_id FROM stream),
runs AS MATERIALIZED (SELECT app_id, model, max(p50_ns) AS p50_ns FROM phase_stat WHERE phase = 'run' GROUP BY 1, 2),
steps AS MATERIALIZED (
	SELECT m.app_id, m.name, max(coalesce(m.step_ns, iif(m.prepared IS NULL, NULL, r.p50_ns))) AS step_ns
	FROM model m LEFT JOIN runs r ON r.app_id = m.app_id AND r.model = m.name GROUP BY 1, 2),
executed AS MATERIALIZED (SELECT DISTINCT app_id, model FROM execution_count WHERE sides <> 'client'),
unknown AS MATERIALIZED (SELECT DISTINCT c.app_id FROM executed c LEFT JOIN steps k ON k.app_id = c.app_id AND k.name = c.model WHERE k.step_ns IS NULL)
SELECT s.trace_id, s.instance, max(k.step_ns) AS step_ns,
	EXISTS (SELECT 1 FROM unknown u WHERE u.app_id IS NULL) OR EXISTS (
		SELECT 1 FROM unknown u JOIN theirs t ON t.app_id = u.app_id WHERE t.trace_id = s.trace_id AND t.instance = s.instance) AS unknown,
	EXISTS (SELECT 1 FROM service_rules r WHERE r.trace_id = s.trace_id AND r.instance = s.instance AND r.policy = 'native') AS native
FROM services s LEFT JOIN theirs h ON h.trace_id = s.trace_id AND h.instance = s.instance LEFT JOIN steps k ON k.app_id = h.app_id
GROUP BY 1, 2 ORDER BY 1, 2
