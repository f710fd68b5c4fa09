-- Misses added up, when all are there. As in docs/figures.md, what a cause took is that of all its culprits together.
DELETE FROM stored_miss_stat;
DELETE FROM stored_culprit_stat;

INSERT INTO stored_miss_stat
WITH whole AS ( -- what would have to be saved; where a model is too big, no less than that is said to save
	SELECT execution_id, total(late_ns) FILTER (WHERE @cause cause@ <> 'unused') AS lateness, max(@cause cause@ = 'too_big') AS too_big
	FROM stored_miss_cause GROUP BY execution_id),
each AS (
	SELECT c.execution_id, c.cause, max(c.is_primary) AS is_primary, total(c.late_ns) AS late, total(c.budget_ns) AS budget,
		max(c.saved) OR (@cause c.cause@ NOT IN ('own_run', 'unused') AND NOT w.too_big AND total(c.late_ns) >= max(w.lateness, 1)) AS saved
	FROM whole w CROSS JOIN stored_miss_cause c ON c.execution_id = w.execution_id GROUP BY c.execution_id, c.cause)
SELECT x.app_id, x.model_id, x.priority, e.cause, count(*), sum(e.is_primary),
	sum(e.is_primary AND x.status = @status:MISSED_DEADLINE_PERSISTENT@), sum(e.saved), CAST(total(max(e.late, 0)) AS INTEGER),
	CAST(max(e.late) AS INTEGER), CAST(total(e.late) AS INTEGER), CAST(total(e.budget) AS INTEGER)
FROM each e CROSS JOIN stored_involved x ON x.execution_id = e.execution_id GROUP BY x.app_id, x.model_id, x.priority, e.cause;

INSERT INTO stored_culprit_stat
WITH whole AS (
	SELECT execution_id, total(late_ns) FILTER (WHERE @cause cause@ <> 'unused') AS lateness, max(@cause cause@ = 'too_big') AS too_big
	FROM stored_miss_cause GROUP BY execution_id),
each AS (
	SELECT c.execution_id, c.culprit_app_id, h.model_id, h.priority AS priority, c.cause, max(c.is_primary) AS is_primary,
		total(c.late_ns) AS late, max(c.saved) OR (NOT w.too_big AND total(c.late_ns) >= max(w.lateness, 1)) AS saved
	FROM whole w CROSS JOIN stored_miss_cause c ON c.execution_id = w.execution_id
		LEFT JOIN stored_involved h ON h.execution_id = c.culprit_execution_id
	WHERE c.culprit_app_id IS NOT NULL AND c.late_ns > 0
	GROUP BY c.execution_id, c.culprit_app_id, h.model_id, h.priority, c.cause)
SELECT x.app_id, e.culprit_app_id, e.model_id, e.priority, e.cause, sum(e.is_primary), sum(e.saved), CAST(total(e.late) AS INTEGER)
FROM each e CROSS JOIN stored_involved x ON x.execution_id = e.execution_id
GROUP BY x.app_id, e.culprit_app_id, e.model_id, e.priority, e.cause;
