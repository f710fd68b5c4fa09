-- priority_unseen_work: the number of executions that may have been chosen and were not recorded; for a WITH.
unseen_work AS MATERIALIZED (
	SELECT (SELECT count(*) FROM picked p WHERE p.quality IN ('gap', 'tail') AND p.sides IS NOT 'client' AND p.app_id IN (SELECT app_id FROM apps_with_more))
		+ (SELECT ifnull(sum(n), 0) FROM (SELECT max(seq) - min(seq) + 1 - count(*) AS n FROM execution GROUP BY stream_id))
		+ (SELECT count(DISTINCT h.execution_id) FROM hidden_waits h JOIN execution x ON x.id = h.execution_id WHERE x.quality NOT IN ('gap', 'tail')) AS n
	WHERE (SELECT max(ifnull(hole_ns, 0), ifnull(wait_ns, 0)) > 0 FROM sight))
