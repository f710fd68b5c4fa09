-- fairness_slowdown_picked: fairness_slowdown over the picked executions; for a FROM.
SELECT app_id, count(*) AS n, percentile(10000 * e2e_ns / run_ns, 50) / 10000.0 AS p50,
		percentile(10000 * e2e_ns / run_ns, 99) / 10000.0 AS p99
	FROM picked WHERE complete AND status = 'NONE' AND run_ns > 0 GROUP BY app_id
