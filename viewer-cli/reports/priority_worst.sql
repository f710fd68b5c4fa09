-- priority_worst: one row per inversion, the longest first, with the execution that waited and the holder of the lane. open: it began before the
-- recording (start), continues after it (end), or both: dur_ns is the recorded part. Leaves out inversions no longer than the
-- holder's step_ns, and those while the app was on probation.
@with@, probations AS MATERIALIZED (@probations@)
SELECT i.victim_id, i.began - @began@ AS began_at, i.dur_ns, a.name AS app, n.name AS victim, v.priority AS victim_priority,
	m.name AS holder, h.priority AS holder_priority, i.holder_id, i.lane, i.open
FROM inversion i CROSS JOIN involved v ON v.execution_id = i.victim_id @only_victims@
	LEFT JOIN apps a ON a.id = v.app_id
	LEFT JOIN models n ON n.id = v.model_id
	LEFT JOIN involved h ON h.execution_id = i.holder_id
	LEFT JOIN models m ON m.id = h.model_id
WHERE NOT @inverted_on_probation@
ORDER BY i.dur_ns DESC, i.victim_id, i.holder_id, i.began
