-- misses_kinds_had: executions that had a deadline, one row each; for a FROM.
SELECT app_id, coalesce((SELECT m.name FROM model m WHERE m.id = p.model_id), '') AS model, priority, status, miss, 1 AS n,
		deadline IS NOT NULL AS deadlines, 0 AS unknown, 0 AS unseen
	FROM (SELECT 1 FROM execution_count WHERE deadlines > 0 OR miss IS NOT NULL LIMIT 1) CROSS JOIN execution p WHERE path IS NOT 'prepare' AND (deadline IS NOT NULL OR miss IS NOT NULL)
