-- fairness_apps: one row per app: its lane time, its fair share, its largest lag, and its slowdown. Slowdown: time of its executions from end to end,
-- divided by their run. Leaves out apps that were never ready.
@with@, shares AS (@shares@),
slow AS (@slow@)
SELECT a.name AS app, s.received_ns, s.entitled_ns,
	CASE WHEN s.entitled_ns > 0 THEN 1.0 * s.received_ns / s.entitled_ns END AS ratio,
	s.max_lag_ns, s.max_lag_at - @began@ AS max_lag_at, w.n, w.p50 AS slowdown_p50, w.p99 AS slowdown_p99
FROM shares s LEFT JOIN slow w ON w.app_id = s.app_id LEFT JOIN apps a ON a.id = s.app_id
ORDER BY s.max_lag_ns DESC, s.app_id
