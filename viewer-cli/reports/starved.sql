-- starved: one row per episode of starvation, by the threshold of the import; for a WITH. Who held the lane for less than 1 % of it is no culprit.
SELECT s.execution_id, s.app_id, m.name AS model, s.began, s.gap_ns, s.bypassed,
	iif(s.top_culprit_ns >= s.gap_ns / 100, s.top_culprit_app_id, NULL) AS top_culprit_app_id,
	iif(s.top_culprit_ns >= s.gap_ns / 100, s.top_culprit_ns, NULL) AS top_culprit_ns, s.open
	FROM starvation s LEFT JOIN models m ON m.id = s.model_id @only@
