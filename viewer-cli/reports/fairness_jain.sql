-- fairness_jain: one row: Jain's index of received over entitled, by window: the smallest, its time, and the median. Leaves out windows with one app
-- only. While apps wait, n of them have n rows of app_lag in each of m windows, so this query counts the apps that wait through a window and does not read
-- their rows. block: the recorded windows of 100 ms in one window of @window@ ns, one after the other. Windows begin as in fairness_windows_cut.sql.
@with@,
runs AS MATERIALIZED (
	SELECT r.app_id, r.first_id, r.last_id, coalesce(t.clock_offset, (SELECT max(clock_offset) FROM trace), 0) AS clock_offset
	FROM lag_run r LEFT JOIN app a ON a.id = r.app_id LEFT JOIN trace t ON t.id = a.trace_id),
numbered AS MATERIALIZED (
	SELECT o.clock_offset, w.id, (w.window_began - o.clock_offset) / @window@ * @window@ + o.clock_offset AS began, w.entitled_ns, w.asked,
		sum(w.asked) OVER (PARTITION BY o.clock_offset ORDER BY w.id ROWS UNBOUNDED PRECEDING) AS nth
	FROM (SELECT DISTINCT clock_offset FROM runs) o CROSS JOIN
		(SELECT id, window_began, entitled_ns, window_began >= @from@ AND window_began <= @to@ - 100000000 AS asked FROM lag_window) w),
-- sum_ns: what each app that waits was entitled to up to the end of the window
asked AS MATERIALIZED (
	SELECT clock_offset, nth, began, entitled_ns, sum(is_new) OVER earlier AS block, sum(entitled_ns) OVER earlier AS sum_ns
	FROM (SELECT clock_offset, nth, began, entitled_ns, began IS NOT lag(began) OVER (PARTITION BY clock_offset ORDER BY nth) AS is_new
		FROM numbered WHERE asked)
	WINDOW earlier AS (PARTITION BY clock_offset ORDER BY nth ROWS UNBOUNDED PRECEDING)),
blocks AS MATERIALIZED (
	SELECT clock_offset, block, began, sum(entitled_ns) AS entitled_ns, max(sum_ns) AS sum_ns FROM asked GROUP BY clock_offset, block),
waits AS MATERIALIZED (
	SELECT r.app_id, r.clock_offset, f.block AS first, l.block AS last, f.sum_ns - f.entitled_ns AS before_ns, l.sum_ns
	FROM runs r JOIN numbered a ON a.id = r.first_id AND a.clock_offset = r.clock_offset JOIN numbered b ON b.id = r.last_id AND b.clock_offset = r.clock_offset
		JOIN asked f ON f.nth = a.nth - a.asked + 1 AND f.clock_offset = r.clock_offset JOIN asked l ON l.nth = b.nth AND l.clock_offset = r.clock_offset
	WHERE a.nth - a.asked < b.nth),
-- an app may have other rows in the first and in the last block of a wait, so these two are added to them
windows AS MATERIALIZED (
	SELECT began, app_id, sum(received_ns) AS received_ns, sum(entitled_ns) AS entitled_ns
	FROM (SELECT (l.window_began - l.clock_offset) / @window@ * @window@ + l.clock_offset AS began, l.app_id, l.received_ns, l.entitled_ns
		FROM (SELECT r.window_began, r.app_id, r.received_ns, r.entitled_ns, coalesce(t.clock_offset, (SELECT max(clock_offset) FROM trace), 0) AS clock_offset
			FROM lag_alone r LEFT JOIN app a ON a.id = r.app_id LEFT JOIN trace t ON t.id = a.trace_id WHERE r.window_began >= @from@ AND r.window_began <= @to@ - 100000000) l
		UNION ALL
		SELECT b.began, w.app_id, 0, min(b.sum_ns, w.sum_ns) - w.before_ns
		FROM waits w JOIN blocks b ON b.block = w.first AND b.clock_offset = w.clock_offset
		UNION ALL
		SELECT b.began, w.app_id, 0, w.sum_ns - b.sum_ns + b.entitled_ns
		FROM waits w JOIN blocks b ON b.block = w.last AND b.clock_offset = w.clock_offset WHERE w.first < w.last)
	GROUP BY began, app_id),
-- blocks between the first and the last of waits: n apps received nothing
between_ends AS MATERIALIZED (
	SELECT began, entitled_ns, n
	FROM (SELECT began, entitled_ns, is_block, sum(n) OVER (PARTITION BY clock_offset ORDER BY block, is_block ROWS UNBOUNDED PRECEDING) AS n
		FROM (SELECT clock_offset, block, began, entitled_ns, 1 AS is_block, 0 AS n FROM blocks
			UNION ALL SELECT clock_offset, first + 1, NULL, NULL, 0, count(*) FROM waits WHERE first < last GROUP BY 1, 2
			UNION ALL SELECT clock_offset, last, NULL, NULL, 0, -count(*) FROM waits WHERE first < last GROUP BY 1, 2))
	WHERE is_block AND n > 0),
each AS MATERIALIZED (
	SELECT began, jain(ratio, n) AS jain
	FROM (SELECT began, 1.0 * received_ns / entitled_ns AS ratio, 1 AS n FROM windows WHERE entitled_ns > 0
		UNION ALL SELECT began, 0.0, n FROM between_ends WHERE entitled_ns > 0)
	GROUP BY began HAVING sum(n) > 1)
SELECT @window@ AS window_ns, (SELECT count(*) FROM (SELECT began FROM windows UNION SELECT began FROM between_ends)) AS n_windows, count(*) AS n_shared,
	min(jain) AS min_ratio,
	(SELECT began - @began@ FROM each ORDER BY jain, began LIMIT 1) AS min_at,
	(SELECT jain FROM each ORDER BY jain LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM each)) AS median_ratio
FROM each
