-- miss_stat_picked: miss_stat for the picked executions, by cause alone: one row per cause; for a WITH.
-- missed: a miss has up to two dozen causes, and its execution is read once for all of them. miss_sums adds them up without sorting them by cause; it wants the
-- causes of an execution one after the other.
WITH missed AS MATERIALIZED (
	SELECT p.id, p.status = 'MISSED_DEADLINE_PERSISTENT' AS persistent,
		iif(p.id IN (SELECT execution_id FROM miss_without WHERE cause IS NOT NULL), p.id, NULL) AS replayed_id
	FROM (@missed@) p),
summed AS MATERIALIZED (
	SELECT miss_sums(m.id, c.cause, c.is_primary, c.late_ns, c.budget_ns, c.saved, m.persistent, w.execution_id IS NOT NULL, w.met) AS causes
	FROM missed m CROSS JOIN miss_cause c ON c.execution_id = m.id
		LEFT JOIN miss_without w ON w.execution_id = m.replayed_id AND w.cause = c.cause)
SELECT e.value ->> 0 AS cause, e.value ->> 1 AS n, e.value ->> 2 AS misses, e.value ->> 3 AS persistent, e.value ->> 4 AS saved, e.value ->> 5 AS lost_ns,
	e.value ->> 6 AS worst_ns, e.value ->> 7 AS late_ns, e.value ->> 8 AS budget_ns, e.value ->> 9 AS unsure
FROM summed CROSS JOIN json_each(summed.causes) e
