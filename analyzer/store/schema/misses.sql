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
DELETE FROM stored_miss_blame;
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
	CAST(max(e.late) AS INTEGER), CAST(total(e.late) AS INTEGER), CAST(total(e.budget) AS INTEGER), sum(e.unsure AND e.is_primary)
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

-- Whose doing each miss was (docs/figures.md, Whose doing). A doer is all causes that go away with it: the waits while another app held the lane; those
-- for work of the same app; all that the machine does.
CREATE TEMP TABLE doer AS
WITH only_two AS MATERIALIZED ( -- of two apps the other one is the other
	SELECT min(id) AS a, max(id) AS b FROM app WHERE NOT EXISTS (SELECT 1 FROM stored_loss) HAVING count(*) = 2),
each AS (
	SELECT c.execution_id, max(c.late_ns, 0) AS part, c.saved, c.is_primary, c.cause, h.model_id, h.priority,
		CASE WHEN c.cause IN (@cause:crowded_out@, @cause:hogged@, @cause:preempted@, @cause:redo@) THEN
				iif(c.culprit_app_id = x.app_id, @blamed:queued_behind@, @blamed:app@)
			WHEN c.cause IN (@cause:handover@, @cause:woken_late@, @cause:polled_late@, @cause:slow_compute@, @cause:off_core@, @cause:machine_busy@) THEN
				@blamed:machine@
			WHEN c.cause IN (@cause:too_big@, @cause:too_tight@, @cause:submitted_late@) THEN -1
			WHEN c.cause IN (@cause:own_run@, @cause:unused@) THEN @cause:unknown@
			ELSE c.cause END AS blamed,
		CASE WHEN c.cause IN (@cause:crowded_out@, @cause:hogged@, @cause:preempted@, @cause:redo@) THEN
			coalesce(c.culprit_app_id, (SELECT r.queue_app_id FROM stored_refusal r WHERE r.execution_id = c.execution_id AND r.queue_cause = c.cause), (SELECT iif(x.app_id = a, b, a) FROM only_two WHERE x.app_id IN (a, b))) END AS blamed_app_id
	FROM stored_miss_cause c CROSS JOIN stored_involved x ON x.execution_id = c.execution_id
		LEFT JOIN stored_involved h ON h.execution_id = c.culprit_execution_id),
doers AS (
	SELECT execution_id, blamed, blamed_app_id, total(part) AS part, max(saved) AS met, sum(part > 0) AS n_parts, sum(part > 0 AND saved IS NULL) AS n_open, max(is_primary) AS is_primary,
		max(iif(is_primary, cause, NULL)) AS cause, max(iif(place = 1, cause, NULL)) AS own_cause,
		max(iif(place = 1, model_id, NULL)) AS model_id, max(iif(place = 1, priority, NULL)) AS priority -- of the row with the longest part
	FROM (SELECT *, row_number() OVER (PARTITION BY execution_id, blamed, blamed_app_id ORDER BY part DESC, model_id) AS place FROM each) GROUP BY 1, 2, 3),
whole AS MATERIALIZED ( -- replays without all rows of a cause
	SELECT execution_id, iif(cause IN (@cause:handover@, @cause:woken_late@, @cause:polled_late@, @cause:slow_compute@, @cause:off_core@, @cause:machine_busy@), @blamed:machine@, cause) AS blamed,
		max(met) AS met
	FROM stored_miss_without WHERE cause IS NOT NULL GROUP BY 1, 2),
-- 1: met without it; 0: missed all the same; NULL: a replay cannot tell. That a part of it alone would not have saved the deadline says nothing of all of it:
-- without one execution of an app the lane is held by its next one.
asked AS (
	SELECT d.*, CASE WHEN d.blamed IN (-1, @blamed:unknown@) OR d.part <= 0 THEN NULL WHEN a.met IS NOT NULL THEN a.met
		WHEN d.met IS 1 OR w.met IS 1 THEN 1 WHEN d.blamed IN (@blamed:app@, @blamed:queued_behind@, @blamed:inversion@) THEN NULL
		WHEN d.n_parts = 1 AND d.n_open = 0 OR w.met = 0 AND d.blamed <> @blamed:machine@ THEN 0 END AS says
	FROM doers d
		LEFT JOIN stored_miss_without a ON d.blamed = @blamed:app@ AND a.execution_id = d.execution_id AND a.app_id = d.blamed_app_id AND a.model_id IS NULL
		LEFT JOIN whole w ON w.execution_id = d.execution_id AND w.blamed = d.blamed),
told AS (
	SELECT *, total(part) OVER miss AS parts, sum(blamed <> -1 AND part > 0 AND says IS NOT 0) OVER miss AS n_untold,
		sum(blamed <> -1 AND (n_open > 0 OR met IS 1)) OVER miss AS n_other, max(cause) OVER miss AS primary_cause
	FROM asked WINDOW miss AS (PARTITION BY execution_id)),
most AS (SELECT *, part > 0 AND 2 * part >= parts AND part >= (SELECT total(c.late_ns) FROM stored_miss_cause c WHERE c.execution_id = told.execution_id) AS is_most FROM told),
ranked AS (
	SELECT m.*, x.status IS @status:MISSED_DEADLINE_PERSISTENT@ AS persistent,
		CASE WHEN says = 1 AND blamed IN (@blamed:app@, @blamed:queued_behind@, @blamed:inversion@) THEN 1
			WHEN says = 1 AND blamed = @blamed:machine@ THEN 2
			WHEN says = 1 THEN 3
			WHEN blamed = -1 AND (is_primary AND n_other = 0 OR own_cause = @cause:too_big@ AND part > 0 AND x.status IS @status:MISSED_DEADLINE_PERSISTENT@) THEN 4
			WHEN blamed NOT IN (-1, @blamed:unknown@) AND says = 0 AND n_untold = 0 THEN 5
			WHEN blamed <> @blamed:unknown@ AND is_most AND says IS NOT 0 THEN 6
			ELSE 7 END AS place
	FROM most m CROSS JOIN stored_involved x ON x.execution_id = m.execution_id)
SELECT execution_id, primary_cause AS cause, persistent,
	CASE place WHEN 5 THEN @blamed:several@ WHEN 7 THEN @blamed:unknown@
		ELSE iif(blamed = -1, own_cause, blamed) END AS blamed,
	iif(place IN (1, 6) OR place = 5 AND is_most, blamed_app_id, NULL) AS blamed_app_id, iif(place IN (1, 6), model_id, NULL) AS blamed_model_id,
	iif(place IN (1, 6), priority, NULL) AS blamed_priority, place <= 4 AS proved, 0 AS followed
FROM (SELECT *, row_number() OVER (PARTITION BY execution_id ORDER BY place, part DESC, blamed, blamed_app_id) AS nth FROM ranked) WHERE nth = 1;

-- Who was submitted too late after a call that missed its deadline was late by the same doing.
CREATE TEMP TABLE follower(after_id INTEGER, execution_id INTEGER, PRIMARY KEY (after_id, execution_id)) WITHOUT ROWID;
INSERT INTO follower
SELECT l.after_id, l.execution_id FROM stored_late_start l CROSS JOIN doer d ON d.execution_id = l.execution_id
WHERE l.after_id IS NOT NULL AND d.blamed = @blamed:submitted_late@;
CREATE UNIQUE INDEX temp.doer_of ON doer(execution_id);

CREATE TEMP TABLE inherited AS
WITH RECURSIVE chain(execution_id, first_id) AS (
	SELECT f.execution_id, f.after_id FROM follower f WHERE NOT EXISTS (SELECT 1 FROM follower b WHERE b.execution_id = f.after_id)
	UNION ALL SELECT f.execution_id, c.first_id FROM chain c CROSS JOIN follower f ON f.after_id = c.execution_id)
SELECT c.execution_id, d.blamed, d.blamed_app_id, d.blamed_model_id, d.blamed_priority FROM chain c CROSS JOIN doer d ON d.execution_id = c.first_id;

UPDATE doer SET blamed = iif(i.blamed IN (@blamed:several@, @blamed:unknown@), @blamed:late@, i.blamed),
	blamed_app_id = iif(i.blamed = @blamed:several@, NULL, i.blamed_app_id), blamed_model_id = i.blamed_model_id, blamed_priority = i.blamed_priority, proved = 0, followed = 1
FROM inherited i WHERE i.execution_id = doer.execution_id AND i.blamed <> @blamed:submitted_late@;
UPDATE doer SET blamed = @blamed:stood@, proved = 0
WHERE blamed = @blamed:submitted_late@ AND execution_id IN (SELECT execution_id FROM stored_late_start WHERE stood_ns IS NOT NULL);

INSERT INTO stored_miss_blame
SELECT x.app_id, x.model_id, x.priority, d.cause, d.blamed, d.blamed_app_id, d.blamed_model_id, d.blamed_priority, d.proved, d.followed, count(*), sum(d.persistent),
	CAST(total(c.late_ns) AS INTEGER), min(nullif(b.base, 0)), max(nullif(b.base, 0))
FROM doer d CROSS JOIN stored_involved x ON x.execution_id = d.execution_id JOIN stored_miss_cause c ON c.execution_id = d.execution_id AND c.is_primary
	LEFT JOIN stored_execution b ON b.id = d.execution_id
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;

DROP TABLE inherited;
DROP TABLE follower;
DROP TABLE doer;
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
