-- miss_stat_picked: miss_stat for the picked executions, by cause alone: one row per cause; for a WITH.
-- missed: a miss has up to two dozen causes, and its execution is read once for all of them. several: misses that have a cause with several culprits;
-- only the rows of these are sorted by cause, which took the most time where many deadlines were missed.
WITH missed AS MATERIALIZED (
	SELECT p.id, p.status = 'MISSED_DEADLINE_PERSISTENT' AS persistent
	FROM miss_cause c CROSS JOIN picked p ON p.id = c.execution_id WHERE c.is_primary),
several AS MATERIALIZED (
	SELECT m.id, m.persistent FROM missed m CROSS JOIN miss_cause c ON c.execution_id = m.id GROUP BY m.id HAVING count(*) > count(DISTINCT c.cause)),
each AS (
	SELECT c.execution_id, c.cause, c.is_primary, c.late_ns, c.saved IS 1 AS any_saved, c.saved IS NOT NULL AS all_known, m.persistent
	FROM missed m CROSS JOIN miss_cause c ON c.execution_id = m.id WHERE m.id NOT IN (SELECT id FROM several)
	UNION ALL
	SELECT c.execution_id, c.cause, max(c.is_primary), sum(c.late_ns), max(c.saved) IS 1, count(c.saved) = count(*), m.persistent
	FROM several m CROSS JOIN miss_cause c ON c.execution_id = m.id GROUP BY c.execution_id, c.cause)
SELECT c.cause, sum(c.is_primary) AS misses, sum(c.is_primary AND c.persistent) AS persistent,
		sum(CASE WHEN w.execution_id IS NULL THEN c.any_saved ELSE w.met IS 1 END) AS saved, sum(max(c.late_ns, 0)) AS lost_ns, max(c.late_ns) AS worst_ns,
		sum(c.is_primary AND CASE WHEN w.execution_id IS NOT NULL THEN w.met IS NULL WHEN c.any_saved OR c.all_known THEN 0
			WHEN c.cause NOT IN ('too_big', 'too_tight', 'submitted_late') THEN 1 WHEN c.cause = 'too_big' AND c.persistent IS 1 THEN 0
			ELSE EXISTS (SELECT 1 FROM miss_cause o WHERE o.execution_id = c.execution_id AND o.cause <> c.cause AND o.saved IS NOT 0) END) AS unsure
	FROM each c LEFT JOIN miss_without w ON w.execution_id = c.execution_id AND w.cause = c.cause
	GROUP BY c.cause
