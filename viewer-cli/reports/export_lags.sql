-- export_lags: one row per window in which an app was backlogged: its beginning and the lag; and one row, with the lag 0, per end of such a window after
-- which the app was not backlogged. If the database has more than 100 000 windows of apps, several windows of an app are one row, with the largest lag.
WITH width AS MATERIALIZED (SELECT 100000000 * (1 + count(*) / 100000) AS ns FROM app_lag),
w AS (SELECT app_id, min(window_began) AS began, max(window_began) + 100000000 AS ended, max(lag_ns) AS lag_ns,
    lead(min(window_began)) OVER (PARTITION BY app_id ORDER BY min(window_began)) AS next
  FROM app_lag, width GROUP BY app_id, window_began / width.ns)
SELECT app_id, began, lag_ns FROM w WHERE lag_ns IS NOT NULL
UNION ALL
SELECT app_id, ended, 0 FROM w WHERE next IS NOT ended
ORDER BY 1, 2
