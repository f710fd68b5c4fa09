-- misses_kinds_had: executions that had a deadline, one row each; for a FROM.
SELECT app_id, coalesce((SELECT m.name FROM model m WHERE m.id = p.model_id), '') AS model, priority, status, miss, 1 AS n,
		deadline IS NOT NULL AS deadlines, 0 AS unknown, 0 AS unseen
	FROM execution p WHERE path IS NOT 'prepare' AND (deadline IS NOT NULL OR miss IS NOT NULL)
