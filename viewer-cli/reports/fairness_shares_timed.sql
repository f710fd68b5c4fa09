-- fairness_shares_timed: fairness_shares over the windows between @from@ and @to@; for a FROM. While apps wait, each of them has a row of app_lag in each window,
-- so this query does not read these rows: the windows of a lag_run have adjacent numbers, in the order of their times, and the lag never shrinks in them.
WITH numbered AS MATERIALIZED ( -- nth, sum: of the windows asked for, up to this one
	SELECT id, asked, entitled_ns, sum(asked) OVER earlier AS nth, sum(asked * entitled_ns) OVER earlier AS sum
	FROM (SELECT id, entitled_ns, window_began >= @from@ AND window_began <= @to@ - 100000000 AS asked FROM lag_window)
	WINDOW earlier AS (ORDER BY id ROWS UNBOUNDED PRECEDING)),
windows AS MATERIALIZED (
	SELECT n.nth, w.id, w.window_began, w.sum_ns, w.sum_part FROM numbered n CROSS JOIN lag_window w ON w.id = n.id WHERE n.asked),
waits AS (
	SELECT r.app_id, r.lag_ns, r.lag_part, b.sum - a.sum + a.asked * a.entitled_ns AS entitled_ns, f.id AS first_id, f.window_began AS first, l.id AS last_id,
		l.window_began AS last,
		r.lag_ns + l.sum_ns + (r.lag_part + l.sum_part + 360360 - (r.lag_ns + l.sum_ns + (r.lag_part + l.sum_part) / 720720 < 0)) / 720720 AS most_ns
	FROM lag_run r CROSS JOIN numbered a ON a.id = r.first_id CROSS JOIN numbered b ON b.id = r.last_id
		CROSS JOIN windows f ON f.nth = a.nth - a.asked + 1 CROSS JOIN windows l ON l.nth = b.nth
	WHERE a.nth - a.asked < b.nth)
SELECT app_id, sum(received_ns) AS received_ns, sum(entitled_ns) AS entitled_ns, max(max(lag_ns), 0) AS max_lag_ns, window_began AS max_lag_at
	FROM (
		SELECT app_id, received_ns, entitled_ns, lag_ns, window_began FROM lag_alone
		WHERE window_began >= @from@ AND window_began <= @to@ - 100000000
		UNION ALL
		-- the first window in which the lag is what it is in the last one
		SELECT s.app_id, 0, s.entitled_ns, s.most_ns, CASE WHEN s.most_ns IS NULL THEN s.last ELSE ifnull(
			(SELECT n.window_began FROM lag_window n WHERE n.id = 1 + (SELECT w.id FROM lag_window w WHERE w.id BETWEEN s.first_id AND s.last_id
				AND s.lag_ns + w.sum_ns + (s.lag_part + w.sum_part + 360360 - (s.lag_ns + w.sum_ns + (s.lag_part + w.sum_part) / 720720 < 0)) / 720720 < s.most_ns
				ORDER BY w.id DESC LIMIT 1)), s.first) END
		FROM waits s)
	GROUP BY app_id
