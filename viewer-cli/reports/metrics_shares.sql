-- metrics_shares: one row per app, the one that got most first: its time on lanes, what it was entitled to, and its largest lag.
SELECT app_id, received_ns, entitled_ns, max_lag_ns
FROM app_share
ORDER BY received_ns DESC, app_id
