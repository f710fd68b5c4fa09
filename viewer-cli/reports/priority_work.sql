-- priority_work: the priorities of the work that apps had, and apps that had, or may have had, work of several; for a WITH, after hidden and ranks.
had AS MATERIALIZED (
	SELECT app_id, priority, n_priorities, sum(n_priorities > 1) OVER () AS n_several
	FROM (SELECT app_id, priority, count(*) OVER (PARTITION BY app_id) AS n_priorities
		FROM (SELECT DISTINCT app_id, priority FROM execution_count WHERE sides <> 'client'))),
-- of apps with several priorities: one look at each of few, or one at all executions
referred AS MATERIALIZED (
	SELECT app_id, priority FROM had h
	WHERE CASE WHEN n_priorities = 1 THEN 1
		WHEN n_several <= 100 THEN EXISTS (SELECT 1 FROM execution x
			WHERE x.app_id IS h.app_id AND x.priority IS h.priority AND (coalesce(x.enqueued, x.dispatched) IS NOT NULL OR NOT x.complete))
		ELSE app_id IS NULL OR priority IS NULL END -- of those it is not looked at whether they waited
	UNION ALL
	SELECT DISTINCT x.app_id, x.priority FROM (SELECT 1 FROM had WHERE n_several > 100 LIMIT 1) CROSS JOIN execution x
	WHERE (x.app_id, x.priority) IN (SELECT app_id, priority FROM had WHERE n_priorities > 1) AND (coalesce(x.enqueued, x.dispatched) IS NOT NULL OR NOT x.complete)),
-- work that an app had, or may have had: what is unknown is any
work AS (
	SELECT app_id, priority FROM referred
	UNION ALL SELECT m.app_id, m.priority
	FROM (SELECT 1 WHERE EXISTS (SELECT 1 FROM loss) AND (SELECT executions FROM hides) OR EXISTS (SELECT 1 FROM strangers)) CROSS JOIN model m),
apps_with_more AS MATERIALIZED (
	SELECT app_id, CASE WHEN count(*) > count(priority) OR min(priority) = 'high' THEN 2 WHEN max(priority) = 'medium' THEN 1 ELSE 0 END AS most FROM work
	GROUP BY app_id HAVING min(priority) <> max(priority) OR count(*) > count(priority))
