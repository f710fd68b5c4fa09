-- fairness_slowdown: one row per app: percentiles of its slowdown over all executions; for a FROM.
SELECT app_id, n, p50, p99 FROM app_slowdown
