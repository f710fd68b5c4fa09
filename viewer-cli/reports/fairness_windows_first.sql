-- fairness_windows_first: fairness_windows_cut for the first windows alone: all rows of windows that have more than @most@ rows together, or of all windows;
-- for a FROM. n apps that wait through m windows have n * m rows of app_lag, and sorting these took seconds.
WITH clock AS MATERIALIZED (SELECT coalesce(max(clock_offset), 0) AS clock_offset, min(clock_offset) IS max(clock_offset) AS is_one FROM trace),
-- n: apps that wait through the window, which are as many rows of it at least
waited AS (
	SELECT window_began, is_window, sum(n) OVER (ORDER BY id, is_window ROWS UNBOUNDED PRECEDING) AS n
	FROM (SELECT id, window_began, 1 AS is_window, 0 AS n FROM lag_window
		UNION ALL SELECT first_id, NULL, 0, 1 FROM lag_run UNION ALL SELECT last_id + 1, NULL, 0, -1 FROM lag_run)),
blocks AS (
	SELECT (w.window_began - c.clock_offset) / @window@ * @window@ + c.clock_offset AS began, max(w.n) AS n
	FROM waited w CROSS JOIN clock c WHERE w.is_window AND c.is_one AND w.window_began >= @from@ AND w.window_began <= @to@ - 100000000 GROUP BY 1),
until AS MATERIALIZED (
	SELECT ifnull(min(began), 9223372036854775807) AS began FROM (SELECT began, sum(n) OVER (ORDER BY began) AS n FROM blocks) WHERE n > @most@),
-- later_id: of the next window that begins too late; a run has its windows in the order of their ids and times
windows AS MATERIALIZED (
	SELECT w.id, min(iif((w.window_began - c.clock_offset) / @window@ * @window@ + c.clock_offset > u.began, w.id, NULL)) OVER (
		ORDER BY w.id DESC ROWS UNBOUNDED PRECEDING) AS later_id
	FROM lag_window w CROSS JOIN clock c CROSS JOIN until u),
lags AS (
	SELECT window_began, app_id, received_ns, entitled_ns, lag_ns FROM lag_alone
	UNION ALL
	SELECT window_began, app_id, 0, entitled_ns, lag_ns + (lag_part + 360360 - (lag_ns + lag_part / 720720 < 0)) / 720720
	FROM (SELECT w.window_began, r.app_id, w.entitled_ns, r.lag_ns + w.sum_ns AS lag_ns, r.lag_part + w.sum_part AS lag_part
		FROM lag_run r JOIN windows f ON f.id = r.first_id CROSS JOIN lag_window w ON w.id BETWEEN r.first_id AND min(r.last_id, ifnull(f.later_id - 1, r.last_id))))
SELECT began, trace_id, app_id, sum(received_ns) AS received_ns, sum(entitled_ns) AS entitled_ns, max(lag_ns) AS lag_ns
	FROM (
		SELECT l.*, (l.window_began - l.clock_offset) / @window@ * @window@ + l.clock_offset AS began
		FROM (SELECT l.*, a.trace_id, coalesce(t.clock_offset, (SELECT max(clock_offset) FROM trace), 0) AS clock_offset
			FROM lags l LEFT JOIN app a ON a.id = l.app_id LEFT JOIN trace t ON t.id = a.trace_id
			WHERE l.window_began >= @from@ AND l.window_began <= @to@ - 100000000) l)
	WHERE began <= (SELECT began FROM until)
	GROUP BY began, app_id
