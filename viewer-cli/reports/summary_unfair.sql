-- summary_unfair: one row: the first and the last window (of 100 ms) in which the app called @name@ received less than half of the lane time that it was
-- entitled to. NULL: there is none.
@with@
SELECT min(l.window_began) - @began@ AS first_at, max(l.window_began) - @began@ AS last_at
FROM apps a CROSS JOIN app_lag l ON l.app_id = a.id WHERE a.name = @name@ AND l.received_ns * 2 < l.entitled_ns
