-- silences: one row per time in which no event of a service was recorded, though clients waited for it; those that last until the end of the recording
-- first, and of these the longest. Either those that went on and took less than a second, or the others. execution_id: the execution that waited longest. recorded: the service was recorded until then, if it was there.
@with@
SELECT p.pid, s.ended - s.began AS silent_ns, s.awaited, s.failed, s.execution_id, a.name AS app, m.name AS model, s.ended - x.submitted AS longest_ns,
	ifnull(s.ended - t.recorded_until < 100000000, 0) AS recorded, s.began - @began@ AS first_at, s.ended - @began@ AS last_at, s.went_on
FROM silence s LEFT JOIN trace t ON t.id = s.trace_id LEFT JOIN process p ON p.id = s.process_id LEFT JOIN execution x ON x.id = s.execution_id
	LEFT JOIN apps a ON a.id = x.app_id LEFT JOIN models m ON m.id = x.model_id
WHERE (s.went_on AND s.ended - s.began < 1000000000) = @short@
ORDER BY s.went_on, silent_ns DESC, s.trace_id, s.instance, s.began
