-- Lags of apps by window, for the page.
SELECT window_began - @began@ AS began, app_id, received_ns, entitled_ns, lag_ns
FROM app_lag
ORDER BY window_began, app_id
LIMIT 200000
