-- lags_whole: one row per app: how far it was behind, and how far at most; for verdict_fairness.sql.
SELECT max_lag_ns, ifnull(most_lag_ns, 4611686018427387904) AS most_lag_ns, app_id FROM app_share
