-- Different models of one app that share a name get distinct names, from what differs, so that no report adds them up.
UPDATE stored_model SET name = k.name FROM (
	WITH ambiguous AS (
		SELECT app_id, name, count(DISTINCT operations) > 1 AS by_operations FROM stored_model
		WHERE name <> '' AND operations > 0 GROUP BY app_id, name
		HAVING count(DISTINCT operations) > 1 OR count(DISTINCT const_bytes) > 1)
	SELECT m.id, m.name || CASE WHEN a.by_operations THEN printf(' (%d operations, %d bytes)', m.operations, ifnull(m.const_bytes, 0))
		ELSE printf(' (%d bytes)', ifnull(m.const_bytes, 0)) END AS name
	FROM ambiguous a JOIN stored_model m ON m.app_id IS a.app_id AND m.name = a.name AND m.operations > 0) k
WHERE k.id = stored_model.id;

-- Names in reports for apps that have no name or share one. The import computes them once, because every report needs them.
UPDATE app SET shown = k.shown FROM (
	SELECT id, iif(name = '', 'app ' || key, name || ' (' || key || iif(same > 1, ', ' || id, '') || ')') AS shown
	FROM (SELECT id, key, name, count(*) OVER (PARTITION BY name) AS n, count(*) OVER (PARTITION BY name, key) AS same FROM app)
	WHERE name = '' OR n > 1) k
WHERE k.id = app.id;
