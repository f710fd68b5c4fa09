-- fairness_windows_cut: one row per app and window of @window@ ns between @from@ and @to@: its lane time, fair share and largest lag; for a FROM.
SELECT l.window_began / @window@ * @window@ AS began, a.trace_id, l.app_id, sum(l.received_ns) AS received_ns,
		sum(l.entitled_ns) AS entitled_ns, max(l.lag_ns) AS lag_ns
	FROM app_lag l LEFT JOIN app a ON a.id = l.app_id
	WHERE l.window_began >= @from@ AND l.window_began <= @to@ - 100000000 GROUP BY 1, l.app_id
