-- slo_ends: one row: 1 if there is an end of the recording at which an execution may be under way without any event (slo_hidden). Of many apps there are
-- many possible waits, and each rule would look through them.
SELECT EXISTS (SELECT 1 FROM possible_wait WHERE execution_id IS NULL AND app_id IS NOT NULL AND ended >= @ended@ AND ifnull(began < @to@, 1)
	AND @ended@ - ifnull(began, @began@) > 100000000)
