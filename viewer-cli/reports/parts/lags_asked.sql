-- lags_asked: one row per app and window of the asked time: how far the app was behind, and how far at most; for verdict_fairness.sql.
SELECT lag_ns AS max_lag_ns, ifnull(most_ns, 4611686018427387904) AS most_lag_ns, app_id FROM asked_windows
