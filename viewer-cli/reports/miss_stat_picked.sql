-- miss_stat_picked: miss_stat for the picked executions, by cause alone: one row per cause; for a WITH.
-- missed: a miss has up to two dozen causes, and its execution is read once for all of them.
WITH missed AS MATERIALIZED (
	SELECT p.id, p.status = 'MISSED_DEADLINE_PERSISTENT' AS persistent
	FROM miss_cause c CROSS JOIN picked p ON p.id = c.execution_id WHERE c.is_primary)
SELECT e.cause, sum(e.is_primary) AS misses, sum(e.is_primary AND e.persistent) AS persistent, sum(e.saved) AS saved,
		sum(max(e.late_ns, 0)) AS lost_ns, max(e.late_ns) AS worst_ns, sum(e.unsure AND e.is_primary) AS unsure
	FROM (
		SELECT c.execution_id, c.cause, max(c.is_primary) AS is_primary, sum(c.late_ns) AS late_ns, m.persistent,
			CASE WHEN w.execution_id IS NULL THEN max(c.saved) IS 1 ELSE w.met IS 1 END AS saved,
			CASE WHEN w.execution_id IS NOT NULL THEN w.met IS NULL WHEN max(c.saved) IS 1 OR count(c.saved) = count(*) THEN 0
				WHEN c.cause NOT IN ('too_big', 'too_tight', 'submitted_late') THEN 1 WHEN c.cause = 'too_big' AND m.persistent IS 1 THEN 0
				ELSE EXISTS (SELECT 1 FROM miss_cause o WHERE o.execution_id = c.execution_id AND o.cause <> c.cause AND o.saved IS NOT 0) END AS unsure
		FROM miss_cause c CROSS JOIN missed m ON m.id = c.execution_id
			LEFT JOIN miss_without w ON w.execution_id = c.execution_id AND w.cause = c.cause
		GROUP BY c.execution_id, c.cause) e
	GROUP BY e.cause
