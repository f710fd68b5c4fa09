-- starved: one row per episode of starvation, by the threshold of the import, on lanes; for a WITH. Who held the lane for less than 1 % of it is no culprit.
SELECT w.execution_id, w.app_id, m.name AS model, w.began, w.gap_ns, w.bypassed,
	iif(w.top_culprit_ns >= w.gap_ns / 100, w.top_culprit_app_id, NULL) AS top_culprit_app_id,
	iif(w.top_culprit_ns >= w.gap_ns / 100, w.top_culprit_ns, NULL) AS top_culprit_ns, w.open
	FROM starvation w LEFT JOIN models m ON m.id = w.model_id WHERE @on_lanes@ @only@
