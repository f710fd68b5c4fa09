-- misses_kinds_picked: the picked executions, one row each, with placeholders for the conditions of an unknown deadline and an unknown outcome; for a
-- FROM.
SELECT app_id, coalesce((SELECT m.name FROM model m WHERE m.id = p.model_id), '') AS model, priority, status, miss, 1 AS n,
		deadline IS NOT NULL AS deadlines, @unknown@ AS unknown, @unseen@ AS unseen
	FROM picked p WHERE path IS NOT 'prepare'
