-- A model whose name was not recorded is named by its number, as where the client alone was recorded: no report adds up two such models.
UPDATE stored_model SET name = 'model ' || (number & 0xffffffff) WHERE name = '' AND number IS NOT NULL;

-- Different models of one app that share a name get distinct names, from what differs, so that no report adds them up: the number of operations, the
-- bytes of constants, and, where both are equal, the digest. CROSS JOIN keeps the order of the tables: SQLite then looks up two rows for each model. The
-- planner knows nothing of the sizes of counted and alike, and would else compare each row of one with each row of the other.
UPDATE stored_model SET name = k.name FROM (
	WITH counted AS (
		SELECT app_id, name, count(DISTINCT operations) AS n_operations, count(DISTINCT const_bytes) AS n_bytes FROM stored_model
		WHERE name <> '' AND operations > 0 GROUP BY app_id, name),
	alike AS (
		SELECT app_id, name, operations, const_bytes, count(DISTINCT digest) AS n_digests FROM stored_model
		WHERE name <> '' AND operations > 0 GROUP BY app_id, name, operations, const_bytes),
	parts AS (
		SELECT m.id, m.name, iif(c.n_operations > 1, printf('%d operations, ', m.operations), '')
			|| iif(c.n_operations > 1 OR c.n_bytes > 1, printf('%d bytes, ', ifnull(m.const_bytes, 0)), '')
			|| iif(k.n_digests > 1 AND m.digest IS NOT NULL, printf('%08x, ', m.digest), '') AS differs
		FROM stored_model m CROSS JOIN counted c ON c.app_id IS m.app_id AND c.name = m.name
		CROSS JOIN alike k ON k.app_id IS m.app_id AND k.name = m.name AND k.operations = m.operations AND k.const_bytes IS m.const_bytes
		WHERE m.operations > 0)
	SELECT id, name || ' (' || rtrim(differs, ', ') || ')' AS name FROM parts WHERE differs <> '') k
WHERE k.id = stored_model.id;

-- Names in reports for apps that have no name or share one. The import computes them once, because every report needs them.
UPDATE app SET shown = k.shown FROM (
	SELECT id, iif(name = '', 'app ' || key, name || ' (' || key || iif(same > 1, ', ' || id, '') || ')') AS shown
	FROM (SELECT id, key, name, count(*) OVER (PARTITION BY name) AS n, count(*) OVER (PARTITION BY name, key) AS same FROM app)
	WHERE name = '' OR n > 1) k
WHERE k.id = app.id;
