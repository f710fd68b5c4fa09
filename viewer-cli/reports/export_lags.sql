-- export_lags: one row per window in which an app was backlogged: its beginning and the lag; and one row, with the lag 0, per end of such a window after
-- which the app was not backlogged.
WITH w AS (SELECT app_id, window_began AS began, window_began + 100000000 AS ended, lag_ns,
    lead(window_began) OVER (PARTITION BY app_id ORDER BY window_began) AS next
  FROM app_lag)
SELECT app_id, began, lag_ns FROM w WHERE lag_ns IS NOT NULL
UNION ALL
SELECT app_id, ended, 0 FROM w WHERE next IS NOT ended
ORDER BY 1, 2
