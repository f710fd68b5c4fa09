-- input_times: one row: start and end of the recording, number of executions, and the time at which the recording was over at the latest.
SELECT min(began), max(max(ended, ifnull(recorded_until, ended))), (SELECT value FROM meta WHERE key = 'executions'),
	max(max(ended, coalesce(recorded_until, over_by, ended)))
FROM trace
