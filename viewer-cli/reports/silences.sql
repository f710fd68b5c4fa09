-- silences: one row per service of which no event was recorded at the end, though clients waited for it; the longest silence first. execution_id: the
-- execution that waited longest. recorded: the service was recorded until then, if it was there.
@with@
SELECT p.pid, s.ended - s.began AS silent_ns, s.awaited, s.failed, s.execution_id, a.name AS app, m.name AS model, s.ended - x.submitted AS longest_ns,
	ifnull(t.recorded_until >= s.ended, 0) AS recorded, s.began - @began@ AS first_at, s.ended - @began@ AS last_at
FROM silence s LEFT JOIN trace t ON t.id = s.trace_id LEFT JOIN process p ON p.id = s.process_id LEFT JOIN execution x ON x.id = s.execution_id
	LEFT JOIN apps a ON a.id = x.app_id LEFT JOIN models m ON m.id = x.model_id
ORDER BY silent_ns DESC, s.trace_id, s.instance
