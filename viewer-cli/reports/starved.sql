-- starved: one row per episode of starvation, by the threshold of the import; for a WITH.
SELECT s.execution_id, s.app_id, m.name AS model, s.began, s.gap_ns, s.bypassed, s.top_culprit_app_id, s.top_culprit_ns, s.open
	FROM starvation s LEFT JOIN models m ON m.id = s.model_id @only@
