-- misses_kinds_picked: the picked executions, one row each, with placeholders for the conditions of an unknown deadline and an unknown outcome; for a
-- FROM. (iif: of a condition that is a value, SQLite computes every part, even if the first decides it.)
SELECT app_id, coalesce((SELECT m.name FROM model m WHERE m.id = p.model_id), '') AS model, priority, status, miss, 1 AS n,
		deadline IS NOT NULL AS deadlines, iif(@unknown@, 1, 0) AS unknown, iif(@unseen@, 1, 0) AS unseen, model_id
	FROM picked p WHERE path IS NOT 'prepare'
