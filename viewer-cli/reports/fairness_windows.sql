-- fairness_windows: one row per window and app that needed a lane in it: its lane time, its fair share, and its largest lag.
@with@, windows AS (@windows@)
SELECT w.began - @began@ AS window_at, a.name AS app, w.received_ns, w.entitled_ns,
	CASE WHEN w.entitled_ns > 0 THEN 1.0 * w.received_ns / w.entitled_ns END AS ratio, w.lag_ns
FROM windows w LEFT JOIN apps a ON a.id = w.app_id
ORDER BY w.began, w.app_id
