-- fairness_shares_timed: fairness_shares over the windows between @from@ and @to@; for a FROM.
SELECT app_id, sum(received_ns) AS received_ns, sum(entitled_ns) AS entitled_ns, max(max(lag_ns), 0) AS max_lag_ns, window_began AS max_lag_at
	FROM app_lag WHERE window_began >= @from@ AND window_began <= @to@ - 100000000 GROUP BY app_id
