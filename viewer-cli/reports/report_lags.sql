-- Lags by window of the apps that were furthest behind, for the page.
SELECT window_began - @began@ AS began, app_id, received_ns, entitled_ns, lag_ns
FROM app_lag
WHERE app_id IN (SELECT app_id FROM app_share ORDER BY max_lag_ns DESC, app_id LIMIT 8)
ORDER BY window_began, app_id
LIMIT 200000
