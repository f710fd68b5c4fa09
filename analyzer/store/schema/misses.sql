-- A preparation that was given up has no number at the time of its deadline_miss event. Its model is the one that was given up for the same deadline,
-- if there is exactly one.
UPDATE stored_deadline_miss SET model_id = k.model_id FROM (
	WITH given_up AS MATERIALIZED (
		SELECT trace_id, deadline, status, min(id) AS id FROM stored_model
		WHERE number IS NULL AND status IN (@status:MISSED_DEADLINE_TRANSIENT@, @status:MISSED_DEADLINE_PERSISTENT@)
		GROUP BY trace_id, deadline, status HAVING count(*) = 1)
	SELECT d.rowid AS miss, g.id AS model_id
	FROM stored_deadline_miss d CROSS JOIN given_up g ON g.deadline = d.deadline AND g.trace_id = d.trace_id
		AND g.status = iif(d.kind = @miss_kind:persistent@, @status:MISSED_DEADLINE_PERSISTENT@, @status:MISSED_DEADLINE_TRANSIENT@)
	WHERE d.execution_id IS NULL AND d.model_id IS NULL) k
WHERE stored_deadline_miss.rowid = k.miss;

-- Sums over misses; filled after the load. The part of a cause is the sum over all its culprits (docs/figures.md).
DELETE FROM stored_miss_stat;
DELETE FROM stored_culprit_stat;
DELETE FROM stored_primary_miss;
DELETE FROM stored_short_budget;

CREATE TEMP VIEW whole_cause AS
SELECT c.execution_id, c.cause, max(c.is_primary) AS is_primary, CASE WHEN count(c.late_ns) THEN total(c.late_ns) END AS late, total(c.budget_ns) AS budget,
	-- without all its culprits, where that was asked
	CASE WHEN w.execution_id IS NULL THEN max(c.saved) IS 1 ELSE w.met IS 1 END AS saved,
	CASE WHEN w.execution_id IS NULL THEN max(c.saved) IS NOT 1 AND count(c.saved) < count(*) ELSE w.met IS NULL END AS unsure
FROM stored_miss_cause c LEFT JOIN stored_miss_without w ON w.execution_id = c.execution_id AND w.cause = c.cause
GROUP BY c.execution_id, c.cause;

INSERT INTO stored_miss_stat
SELECT x.app_id, x.model_id, x.priority, e.cause, count(*), sum(e.is_primary),
	sum(e.is_primary AND x.status IS @status:MISSED_DEADLINE_PERSISTENT@), sum(e.saved), CAST(CASE WHEN count(e.late) THEN total(max(e.late, 0)) END AS INTEGER),
	CAST(max(e.late) AS INTEGER), CAST(total(e.late) AS INTEGER), CAST(total(e.budget) AS INTEGER), sum(e.unsure)
FROM whole_cause e CROSS JOIN stored_involved x ON x.execution_id = e.execution_id GROUP BY x.app_id, x.model_id, x.priority, e.cause;

INSERT INTO stored_culprit_stat
WITH each AS (
	SELECT c.execution_id, c.culprit_app_id, h.model_id, h.priority AS priority, c.cause, max(c.is_primary) AS is_primary,
		total(c.late_ns) AS late
	FROM stored_miss_cause c LEFT JOIN stored_involved h ON h.execution_id = c.culprit_execution_id
	WHERE c.culprit_app_id IS NOT NULL AND c.late_ns > 0
	GROUP BY c.execution_id, c.culprit_app_id, h.model_id, h.priority, c.cause)
SELECT x.app_id, e.culprit_app_id, e.model_id, e.priority, e.cause, sum(e.is_primary), CAST(total(e.late) AS INTEGER)
FROM each e CROSS JOIN stored_involved x ON x.execution_id = e.execution_id
GROUP BY x.app_id, e.culprit_app_id, e.model_id, e.priority, e.cause;

INSERT INTO stored_primary_miss
SELECT x.app_id, x.model_id, x.priority, c.cause, c.culprit_app_id, h.model_id, h.priority, count(*), count(h.execution_id),
	sum(x.status IS @status:MISSED_DEADLINE_PERSISTENT@), CAST(total(c.late_ns) AS INTEGER),
	sum(w.saved), sum(w.unsure), ifnull(sum(o.met), 0), count(*) - count(o.met), min(nullif(b.base, 0)), max(nullif(b.base, 0))
FROM stored_miss_cause c CROSS JOIN stored_involved x ON x.execution_id = c.execution_id
	LEFT JOIN stored_execution b ON b.id = c.execution_id
	LEFT JOIN stored_involved h ON h.execution_id = c.culprit_execution_id
	JOIN whole_cause w ON w.execution_id = c.execution_id AND w.cause = c.cause
	LEFT JOIN stored_miss_without o ON o.execution_id = c.execution_id AND o.app_id = c.culprit_app_id AND o.model_id IS NULL
WHERE c.is_primary GROUP BY x.app_id, x.model_id, x.priority, c.cause, c.culprit_app_id, h.model_id, h.priority;

DROP VIEW whole_cause;

INSERT INTO stored_short_budget
WITH budgets AS (
	SELECT x.app_id, ifnull(m.name, '') AS model, c.cause, x.deadline - coalesce(x.submitted, x.request_read) AS budget_ns
	FROM stored_miss_cause c CROSS JOIN stored_execution x ON x.id = c.execution_id LEFT JOIN stored_model m ON m.id = x.model_id
	WHERE c.is_primary AND c.cause IN (@cause:too_big@, @cause:too_tight@, @cause:submitted_late@)),
ranked AS (
	SELECT app_id, model, cause, budget_ns, count(*) OVER each AS n, row_number() OVER (PARTITION BY app_id, model, cause ORDER BY budget_ns) AS nth
	FROM budgets WHERE budget_ns IS NOT NULL WINDOW each AS (PARTITION BY app_id, model, cause))
SELECT app_id, model, cause, n, budget_ns FROM ranked WHERE nth = (n + 1) / 2;
