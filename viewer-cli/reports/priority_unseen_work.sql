-- priority_unseen_work: n: the number of executions that may have been chosen and were not recorded; strange: of executions of streams that were not
-- recorded either, as of an app that came and went in a hole: as many as the services' numbers leave, or as events were lost; 10^15: unknown. For a WITH.
strange_work AS MATERIALIZED (
	SELECT CASE WHEN NOT s.strange_ns THEN 0
		WHEN (SELECT max(value) FROM meta WHERE key = 'unseen_unknown') IS 0 THEN (SELECT max(value) FROM meta WHERE key = 'unseen_executions')
		WHEN EXISTS (SELECT 1 FROM losses WHERE events IS NULL) THEN 1000000000000000
		ELSE (SELECT sum(events) FROM losses) END AS n
	FROM sight s),
-- of streams or, where no hole hides a model, of models that were recorded
skipped_work AS MATERIALIZED (
	SELECT ifnull(sum(n), 0) AS n FROM (
		SELECT max(seq) - min(seq) + 1 - count(*) AS n FROM execution x
		WHERE stream_id IS NOT NULL AND ifnull((SELECT s.executions FROM stream s WHERE s.id = x.stream_id), 2) > 1 -- of one alone, none is between
		GROUP BY stream_id)),
lost_work AS MATERIALIZED (
	SELECT CASE WHEN s.strange_ns THEN k.n
		WHEN (SELECT max(value) FROM meta WHERE key = 'unseen_unknown') IS 0 THEN (SELECT max(value) FROM meta WHERE key = 'unseen_executions')
		ELSE max(k.n, (SELECT ifnull(sum(events), 0) FROM losses)) END AS n
	FROM sight s CROSS JOIN skipped_work k),
unseen_work AS MATERIALIZED (
	SELECT (SELECT count(*) FROM (SELECT 1 FROM apps_with_more LIMIT 1) CROSS JOIN picked p WHERE p.quality IN ('gap', 'tail') AND p.sides IS NOT 'client' AND (p.queue_ns IS NULL OR p.run_ns IS NULL) AND p.app_id IN (SELECT app_id FROM apps_with_more))
		+ (SELECT n FROM lost_work)
		-- choices of executions that are known
		+ (SELECT ifnull(max(value), 1000000000000000) FROM meta WHERE key = 'untold_choices')
		+ (SELECT count(DISTINCT h.execution_id) FROM hidden_waits h JOIN execution x ON x.id = h.execution_id WHERE (x.quality NOT IN ('gap', 'tail') OR x.queue_ns IS NOT NULL AND x.run_ns IS NOT NULL)) AS n,
		(SELECT min(n, 1000000000000000) FROM strange_work) AS strange
	WHERE (SELECT strange_ns OR max(ifnull(hole_ns, 0), ifnull(wait_ns, 0)) > 0 FROM sight))
