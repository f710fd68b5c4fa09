-- priority_together: one row: 1 if executions of one app and of several priorities may have been ready at the same time. Otherwise there was no choice
-- between them, though it is not known when a lane was free. Each is ready until it is on its lane, or, preempted, until it is over.
WITH ready AS (
	SELECT app_id, priority, coalesce(enqueued, -4611686018427387903) AS began,
		coalesce(iif(preemptions = 0 AND complete, dispatched, NULL), run_ended, 4611686018427387903) AS ended
	FROM execution
	WHERE sides <> 'client' AND (coalesce(enqueued, dispatched) IS NOT NULL OR NOT complete)
		AND app_id IN (SELECT app_id FROM execution_count GROUP BY app_id HAVING count(DISTINCT priority) > 1 OR count(*) > count(priority))),
before AS (
	SELECT priority, began, max(iif(priority = 'low', ended, NULL)) OVER earlier AS low, max(iif(priority = 'medium', ended, NULL)) OVER earlier AS medium,
		max(iif(priority = 'high', ended, NULL)) OVER earlier AS high
	FROM ready WINDOW earlier AS (PARTITION BY app_id ORDER BY began ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
SELECT EXISTS (
	SELECT 1 FROM before WHERE priority IS NULL OR priority <> 'low' AND low >= began OR priority <> 'medium' AND medium >= began OR priority <> 'high' AND high >= began)
	OR EXISTS (SELECT 1 FROM execution_count WHERE app_id IS NULL)
