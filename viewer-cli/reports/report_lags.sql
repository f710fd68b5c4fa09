-- Lags by window of the apps that were furthest behind, for the page. As the rows of app_lag, but only those of these apps are made.
, furthest AS MATERIALIZED (SELECT app_id FROM app_share ORDER BY max_lag_ns DESC, app_id LIMIT 8)
SELECT window_began - @began@ AS began, app_id, received_ns, entitled_ns, lag_ns
FROM (
	SELECT window_began, app_id, received_ns, entitled_ns, lag_ns FROM lag_alone WHERE app_id IN (SELECT app_id FROM furthest)
	UNION ALL
	SELECT window_began, app_id, 0, entitled_ns, lag_ns + (lag_part + 360360 - (lag_ns + lag_part / 720720 < 0)) / 720720
	FROM (SELECT w.window_began, r.app_id, w.entitled_ns, r.lag_ns + w.sum_ns AS lag_ns, r.lag_part + w.sum_part AS lag_part
		FROM lag_run r CROSS JOIN lag_window w ON w.id BETWEEN r.first_id AND r.last_id WHERE r.app_id IN (SELECT app_id FROM furthest)))
ORDER BY window_began, app_id
LIMIT 200000
