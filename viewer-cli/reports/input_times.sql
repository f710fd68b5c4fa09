-- input_times: one row: start and end of the recording, number of executions, whether some deadlines or outcomes may be unknown, and the time at which the
-- recording was over at the latest.
SELECT min(began), max(max(ended, ifnull(recorded_until, ended))), (SELECT value FROM meta WHERE key = 'executions'),
	EXISTS (SELECT 1 FROM execution_count WHERE sides = 'service' OR quality IN ('gap', 'tail')),
	EXISTS (SELECT 1 FROM execution_count WHERE deadlines > 0 AND miss IS NULL AND (sides = 'service' OR quality <> 'complete' OR path = 'fenced' AND status IS NULL)),
	max(max(ended, coalesce(recorded_until, over_by, ended)))
FROM trace
