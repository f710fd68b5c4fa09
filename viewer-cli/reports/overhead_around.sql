-- overhead_around: one row per app and kind of action around its executions: how often, per execution and per second, and how long it took. The
-- service's work for a burst (burst_configure, burst_close) is part of the client's time. Leaves out actions that ended before the recording.
@with@, ran AS (SELECT app_id, count(*) AS n FROM picked GROUP BY app_id),
spent AS (SELECT app_id, kind, took_ns FROM span WHERE began + took_ns >= max(@from@, @began@) AND began < @to@)
SELECT a.name AS app, s.kind, CASE WHEN s.kind IN ('burst_configure', 'burst_close') THEN 'service' ELSE 'client' END AS side,
	count(*) AS n_spans, 1.0 * count(*) / r.n AS per_execution_ratio, 1e9 * count(*) / @length@ AS per_second_ratio,
	percentile(s.took_ns, 50) AS took_p50_ns, percentile(s.took_ns, 99) AS took_p99_ns, sum(s.took_ns) AS sum_ns,
	sum(s.took_ns) / r.n AS each_execution_ns
FROM spent s LEFT JOIN apps a ON a.id = s.app_id LEFT JOIN ran r ON r.app_id IS s.app_id
GROUP BY s.app_id, s.kind ORDER BY sum_ns DESC, a.name, s.kind
