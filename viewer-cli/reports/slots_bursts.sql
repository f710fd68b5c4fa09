-- slots_bursts: one row per app and model with bursts: number of bursts, executions of each, and bursts used once. Leaves out bursts without picked
-- executions.
@with@, each AS (@each@)
SELECT app, model, count(*) AS n_bursts, sum(n) AS n_executions, sum(n = 1) AS n_used_once,
	100.0 * sum(n = 1) / count(*) AS used_once_percent, percentile(n, 50) AS n_p50_each, min(n) AS n_min_each, max(n) AS n_max_each,
	percentile(open_ns, 50) AS open_p50_ns,
	percentile(first_ns, 50) AS first_p50_ns
FROM each GROUP BY app_id, model ORDER BY n_bursts DESC, app, model
