-- slo_ends: one row: for how long an execution may be under way at the end of the recording without any event, at most, as ends of slo_hidden has it; NULL: none
-- may be. Of many apps there are many possible waits, and slo_hidden would look through them for each rule.
SELECT max(@ended@ - ifnull(began, @began@) - iif((SELECT max(recorded_until) FROM trace) IS NULL, 100000000, min(max(@ended@ - (SELECT max(recorded_until) FROM trace), 0), 100000000))) AS ns
FROM possible_wait WHERE execution_id IS NULL AND app_id IS NOT NULL AND ended >= @ended@ AND ifnull(began < @to@, 1)
	AND @ended@ - ifnull(began, @began@) > 100000000
