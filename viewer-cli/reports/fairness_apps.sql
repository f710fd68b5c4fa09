-- fairness_apps: one row per app: what it had of the lanes, should have had, how far it was behind at most, and its slowdown.
-- Leaves out apps that were never ready. Slowdown: how much longer its executions took from end to end than they ran.
@with@, shares AS (@shares@),
slow AS (@slow@)
SELECT a.name AS app, s.received_ns, s.entitled_ns,
	CASE WHEN s.entitled_ns > 0 THEN 1.0 * s.received_ns / s.entitled_ns END AS ratio,
	s.max_lag_ns, s.max_lag_at - @began@ AS max_lag_at, w.n, w.p50 AS slowdown_p50, w.p99 AS slowdown_p99
FROM shares s LEFT JOIN slow w ON w.app_id = s.app_id LEFT JOIN apps a ON a.id = s.app_id
ORDER BY s.max_lag_ns DESC, s.app_id
