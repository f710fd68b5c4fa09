-- fairness_windows_cut: one row per app and window of @window@ ns between @from@ and @to@: its lane time, fair share and largest lag; for a FROM.
-- Windows begin at multiples of their length on the clock of the host, which is clock_offset away from the times of this file.
SELECT (window_began - clock_offset) / @window@ * @window@ + clock_offset AS began, trace_id, app_id, sum(received_ns) AS received_ns,
		sum(entitled_ns) AS entitled_ns, max(lag_ns) AS lag_ns
	FROM (
		SELECT l.*, a.trace_id, coalesce(t.clock_offset, (SELECT max(clock_offset) FROM trace), 0) AS clock_offset
		FROM app_lag l LEFT JOIN app a ON a.id = l.app_id LEFT JOIN trace t ON t.id = a.trace_id
		WHERE l.window_began >= @from@ AND l.window_began <= @to@ - 100000000)
	GROUP BY 1, app_id
