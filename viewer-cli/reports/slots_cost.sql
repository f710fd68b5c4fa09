-- slots_cost: one row per app and model with unknown slots: the time to fetch them, per execution, and to map them, per slot. Leaves out apps and
-- models without unknown slots.
@with@, each AS (
	SELECT p.app_id, p.app, p.model, m.execution_id, m.map_ns,
		CASE WHEN row_number() OVER (PARTITION BY m.execution_id ORDER BY m.at, m.slot) = 1 THEN m.fetch_ns END AS fetch_ns
	FROM slot_miss m CROSS JOIN picked p ON p.id = m.execution_id)
SELECT app, model, count(*) AS n_misses, count(DISTINCT execution_id) AS n_executions, percentile(fetch_ns, 50) AS fetch_p50_ns,
	percentile(fetch_ns, 99) AS fetch_p99_ns, sum(fetch_ns) AS fetch_ns, percentile(map_ns, 50) AS map_p50_ns,
	percentile(map_ns, 99) AS map_p99_ns, sum(map_ns) AS map_ns
FROM each GROUP BY app_id, model ORDER BY fetch_ns + map_ns DESC, app, model
