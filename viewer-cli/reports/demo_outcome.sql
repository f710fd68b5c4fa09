-- demo_outcome: one row: number of deadlines and of misses, and the largest lag of an app.
SELECT sum(deadlines), sum(n) FILTER (WHERE miss IS NOT NULL), (SELECT max(max_lag_ns) FROM app_share) FROM execution_count
