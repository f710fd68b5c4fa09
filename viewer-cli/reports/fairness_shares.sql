-- fairness_shares: one row per app: its lane time, fair share and largest lag over the whole recording; for a FROM.
SELECT app_id, received_ns, entitled_ns, max_lag_ns, max_lag_at FROM app_share
