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

-- Where a run held the lane, and was on no cpu for as much of the wait as the execution is late, the wait is the machine's as well as that run's. A replay without
-- the run is a replay without what stopped it, too: a service that stands still stops every run. So such a replay proves nothing (docs/figures.md, Saved).
-- Where the cpu time of that run was not read, and the late part of the wait for it is 100 ms or more, and more than ten usual runs, a stop of the service, or a
-- thread that slept, may be why: then all of that part beyond the usual run counts as such time.
CREATE TEMP VIEW unrun AS -- for how long at least the run that was waited for was on no cpu; NULL: unknown, or no wait
SELECT execution_id, nth, cause, app_id, model_id, iif(is_wait, coalesce(max(late_ns - cpu_ns, 0), unread_ns), NULL) AS ns,
	-- of that, for how long at least its thread had not asked for a cpu: it waited for a page, say
	iif(is_wait, coalesce(max(late_ns - cpu_ns - run_delay_ns, 0), unread_ns), NULL) AS asleep_ns
FROM (
	SELECT *, iif(cpu_ns IS NULL AND late_ns >= 100000000 AND late_ns > 10 * usual_ns, late_ns - usual_ns, NULL) AS unread_ns
	FROM (
		SELECT c.execution_id, c.nth, c.cause, c.culprit_app_id AS app_id, h.model_id, c.late_ns, h.cpu_ns, h.run_delay_ns,
			((1 << @cause:crowded_out@) | (1 << @cause:hogged@) | (1 << @cause:preempted@) | (1 << @cause:queued_behind@) | (1 << @cause:inversion@)) >> c.cause & 1 AS is_wait,
			coalesce((SELECT min(t.p50_ns) FROM stored_typical t WHERE t.model_id = h.model_id AND t.phase = @phase:run@), (SELECT m.estimate_ns FROM stored_model m WHERE m.id = h.model_id)) AS usual_ns
		FROM stored_miss_cause c LEFT JOIN stored_involved h ON h.execution_id = c.culprit_execution_id));
CREATE TEMP TABLE delay AS -- delays of a miss added up, and its lateness
SELECT execution_id, total(max(late_ns, 0)) AS parts, total(late_ns) AS lateness FROM stored_miss_cause GROUP BY 1;
CREATE UNIQUE INDEX temp.delay_of ON delay(execution_id);

UPDATE stored_miss_cause SET saved = NULL WHERE saved = 1 AND (execution_id, nth) IN (
	SELECT u.execution_id, u.nth FROM unrun u CROSS JOIN delay d USING (execution_id) WHERE u.ns > 0 AND 2 * u.ns >= d.parts AND u.ns >= d.lateness);
UPDATE stored_miss_without SET met = NULL WHERE met = 1 AND rowid IN (
	SELECT w.rowid FROM stored_miss_without w JOIN unrun u USING (execution_id) JOIN delay d USING (execution_id) LEFT JOIN stored_model m ON m.id = w.model_id
	WHERE w.met = 1 AND (w.cause = u.cause OR w.app_id = u.app_id AND (w.model_id IS NULL OR EXISTS (SELECT 1 FROM stored_model o WHERE o.id = u.model_id AND o.name = m.name)))
	GROUP BY w.rowid HAVING sum(u.ns) > 0 AND 2 * sum(u.ns) >= max(d.parts) AND sum(u.ns) >= max(d.lateness));

-- No replay tells what had happened if the service had not stood still meanwhile.
CREATE TEMP TABLE stopped AS SELECT execution_id FROM stored_miss_cause WHERE cause = @cause:stopped@ AND late_ns > 0;
UPDATE stored_miss_cause SET saved = NULL WHERE saved = 1 AND cause <> @cause:stopped@ AND execution_id IN (SELECT execution_id FROM stopped);
UPDATE stored_miss_without SET met = NULL WHERE met = 1 AND execution_id IN (SELECT execution_id FROM stopped);

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
	CASE WHEN w.execution_id IS NULL THEN max(c.saved) IS NOT 1 AND count(c.saved) < count(*) ELSE w.met IS NULL END AS undecided,
	CASE WHEN w.execution_id IS NOT NULL THEN w.met IS NULL WHEN max(c.saved) IS 1 OR count(c.saved) = count(*) THEN 0
		-- Too little time is certain where no other cause may have made the difference, or where the service answered so.
		WHEN ((1 << @cause:too_big@) | (1 << @cause:too_tight@) | (1 << @cause:submitted_late@)) >> c.cause & 1 THEN
			EXISTS (SELECT 1 FROM stored_miss_cause o WHERE o.execution_id = c.execution_id AND o.cause <> c.cause AND o.saved IS NOT 0)
			AND NOT (c.cause = @cause:too_big@ AND EXISTS (SELECT 1 FROM stored_involved x WHERE x.execution_id = c.execution_id AND x.status IS @status:MISSED_DEADLINE_PERSISTENT@))
		ELSE 1 END AS unsure
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
	sum(w.saved), sum(w.undecided), ifnull(sum(o.met), 0), count(*) - count(o.met), min(nullif(b.base, 0)), max(nullif(b.base, 0))
FROM stored_miss_cause c CROSS JOIN stored_involved x ON x.execution_id = c.execution_id
	LEFT JOIN stored_execution b ON b.id = c.execution_id
	LEFT JOIN stored_involved h ON h.execution_id = c.culprit_execution_id
	JOIN whole_cause w ON w.execution_id = c.execution_id AND w.cause = c.cause
	LEFT JOIN stored_miss_without o ON o.execution_id = c.execution_id AND o.app_id = c.culprit_app_id AND o.model_id IS NULL
WHERE c.is_primary GROUP BY x.app_id, x.model_id, x.priority, c.cause, c.culprit_app_id, h.model_id, h.priority;

-- Whose doing each miss was (docs/figures.md, Whose doing). A doer is all causes that go away with it: the waits while another app held the lane; those
-- for work of the same app; all that the machine does. unrun: of a wait, for how long at least the run that was waited for was on no cpu.
CREATE TEMP TABLE doer AS
WITH only_two AS MATERIALIZED ( -- of two apps the other one is the other
	SELECT min(id) AS a, max(id) AS b FROM app WHERE NOT EXISTS (SELECT 1 FROM stored_loss) HAVING count(*) = 2),
each AS (
	SELECT c.execution_id, max(c.late_ns, 0) AS part, c.late_ns, c.saved, c.is_primary, c.cause, c.culprit_execution_id, u.ns AS unrun, u.asleep_ns AS asleep,
		CASE WHEN ((1 << @cause:crowded_out@) | (1 << @cause:hogged@) | (1 << @cause:preempted@) | (1 << @cause:redo@)) >> c.cause & 1 THEN
				CASE WHEN c.culprit_app_id = x.app_id THEN @blamed:queued_behind@
					WHEN c.culprit_app_id IS NULL AND EXISTS (SELECT 1 FROM stored_refusal r WHERE r.execution_id = c.execution_id
						AND r.queue_cause = @cause:crowded_out@ AND r.queue_cause = c.cause AND r.queue_app_id IS NULL) THEN @blamed:apps@
					ELSE @blamed:app@ END
			WHEN c.cause = @cause:off_core@ AND x.run_delay_ns IS NOT NULL THEN @blamed:off_core@ -- what it waited for a cpu is machine_busy
			WHEN ((1 << @cause:handover@) | (1 << @cause:woken_late@) | (1 << @cause:polled_late@) | (1 << @cause:slow_compute@) | (1 << @cause:off_core@) | (1 << @cause:machine_busy@)) >> c.cause & 1 THEN
				@blamed:machine@
			WHEN ((1 << @cause:too_big@) | (1 << @cause:too_tight@) | (1 << @cause:submitted_late@)) >> c.cause & 1 THEN -1
			WHEN ((1 << @cause:own_run@) | (1 << @cause:unused@)) >> c.cause & 1 THEN @cause:unknown@
			ELSE c.cause END AS blamed,
		CASE WHEN ((1 << @cause:crowded_out@) | (1 << @cause:hogged@) | (1 << @cause:preempted@) | (1 << @cause:redo@)) >> c.cause & 1 THEN
			nullif(coalesce(c.culprit_app_id, -- its own app may have waited longest in the queue that other apps were in, too
				(SELECT nullif(r.queue_app_id, x.app_id) FROM stored_refusal r WHERE r.execution_id = c.execution_id AND r.queue_cause = c.cause),
				(SELECT iif(x.app_id = a, b, a) FROM only_two WHERE x.app_id IN (a, b))), x.app_id) END AS blamed_app_id
	FROM stored_miss_cause c CROSS JOIN stored_involved x ON x.execution_id = c.execution_id LEFT JOIN unrun u ON u.execution_id = c.execution_id AND u.nth = c.nth),
marked AS ( -- the work of several apps was queued before it: of which app, is not known
	SELECT execution_id, part, late_ns, saved, is_primary, cause, culprit_execution_id, unrun, asleep, blamed, iif(blamed = @blamed:apps@, NULL, blamed_app_id) AS blamed_app_id FROM each),
doers AS MATERIALIZED ( -- cause and culprit_execution_id are of the row with the longest part
	SELECT execution_id, blamed, blamed_app_id, max(part) AS longest, total(part) AS part, total(unrun) AS unrun, total(asleep) AS asleep, total(late_ns) AS late, sum(saved IS 1) AS met, sum(part > 0) AS n_parts,
		sum(part > 0 AND saved IS NULL) AS n_open, sum(is_primary) AS is_primary, total(iif(is_primary, cause, 0)) AS primary_cause, cause, culprit_execution_id
	FROM marked GROUP BY 1, 2, 3),
whole AS MATERIALIZED ( -- replays without all rows of a cause
	SELECT w.execution_id, CASE WHEN w.cause = @cause:off_core@ AND x.run_delay_ns IS NOT NULL THEN @blamed:off_core@
		WHEN ((1 << @cause:handover@) | (1 << @cause:woken_late@) | (1 << @cause:polled_late@) | (1 << @cause:slow_compute@) | (1 << @cause:off_core@) | (1 << @cause:machine_busy@)) >> w.cause & 1
		THEN @blamed:machine@ ELSE w.cause END AS blamed, max(w.met) AS met
	FROM stored_miss_without w CROSS JOIN stored_involved x ON x.execution_id = w.execution_id WHERE w.cause IS NOT NULL GROUP BY 1, 2),
-- 1: met without it; 0: missed all the same; NULL: a replay cannot tell. That a part of it alone would not have saved the deadline says nothing of all of it:
-- without one execution of an app the lane is held by its next one.
asked AS (
	SELECT d.*, CASE WHEN d.blamed IN (-1, @blamed:unknown@) OR d.part <= 0 THEN NULL WHEN a.met IS NOT NULL THEN a.met
		WHEN d.met OR w.met IS 1 THEN 1 WHEN d.blamed IN (@blamed:app@, @blamed:apps@, @blamed:queued_behind@, @blamed:inversion@) THEN NULL
		WHEN d.n_parts = 1 AND d.n_open = 0 OR w.met = 0 AND d.blamed <> @blamed:machine@ THEN 0 END AS says
	FROM doers d
		LEFT JOIN stored_miss_without a ON d.blamed = @blamed:app@ AND a.execution_id = d.execution_id AND a.app_id = d.blamed_app_id AND a.model_id IS NULL
		LEFT JOIN whole w ON w.execution_id = d.execution_id AND w.blamed = d.blamed),
told AS (
	SELECT *, total(part) OVER miss AS parts, total(late) OVER miss AS lateness, sum(blamed <> -1 AND part > 0 AND says IS NOT 0) OVER miss AS n_untold,
		sum(blamed <> -1 AND (n_open > 0 OR met)) OVER miss AS n_other, CAST(total(primary_cause) OVER miss AS INTEGER) AS first_cause,
		total(iif(blamed = @blamed:stopped@, part, 0)) OVER miss AS stopped
	FROM asked WINDOW miss AS (PARTITION BY execution_id)),
slept AS ( -- the runs that were waited for were on no cpu, and mostly had not asked for one: then neither the app nor the machine is known to be the doer
	SELECT *, blamed IN (@blamed:app@, @blamed:queued_behind@, @blamed:inversion@) AND unrun > 0 AND 2 * unrun >= parts AND unrun >= lateness AS is_unrun, 2 * asleep >= unrun AS is_asleep
	FROM told),
placed AS (
	SELECT a.*, x.status IS @status:MISSED_DEADLINE_PERSISTENT@ AS persistent, a.part > 0 AND 2 * a.part >= a.parts AND a.part >= a.lateness AS is_most,
		a.is_unrun AND NOT a.is_asleep AS is_held,
		CASE WHEN a.blamed = @blamed:long_run@ THEN 7 -- it may have computed, slept, or waited for a cpu: it is the doing of none that is known
			WHEN a.says = 1 AND a.blamed IN (@blamed:app@, @blamed:apps@, @blamed:queued_behind@, @blamed:inversion@) THEN 1
			WHEN a.says = 1 AND a.blamed = @blamed:machine@ THEN 2
			WHEN a.says = 1 THEN 3
			WHEN a.blamed = -1 AND (a.is_primary AND a.n_other = 0 OR a.cause = @cause:too_big@ AND a.part > 0 AND x.status IS @status:MISSED_DEADLINE_PERSISTENT@) THEN 4
			WHEN a.blamed NOT IN (-1, @blamed:unknown@) AND a.says = 0 AND a.n_untold = 0 THEN 5
			WHEN a.blamed <> @blamed:unknown@ AND a.part > 0 AND 2 * a.part >= a.parts AND a.part >= a.lateness AND a.says IS NOT 0 AND NOT (a.is_unrun AND a.is_asleep)
				AND (a.blamed = @blamed:stopped@ OR a.stopped <= 0 OR a.stopped < a.lateness) THEN 6 -- otherwise it may have been in time without the stop
			ELSE 7 END AS place
	FROM slept a CROSS JOIN stored_involved x ON x.execution_id = a.execution_id),
chosen AS ( -- the other columns are of the first by place, and then by part
	SELECT *, min(place * 1e19 - part) FROM placed GROUP BY execution_id)
SELECT c.execution_id, c.first_cause AS cause, c.persistent,
	CASE c.place WHEN 5 THEN @blamed:several@ WHEN 7 THEN @blamed:unknown@ ELSE CASE WHEN c.place = 6 AND c.is_held THEN @blamed:held@ WHEN c.blamed = -1 THEN c.cause ELSE c.blamed END END AS blamed,
	iif(c.place = 5 AND c.is_most OR c.place = 7 AND c.part > 0, CASE WHEN c.is_held THEN @blamed:held@ WHEN c.blamed = -1 THEN c.cause ELSE c.blamed END, NULL) AS mostly,
	iif(c.place IN (1, 6) OR c.place IN (5, 7) AND c.part > 0, c.blamed_app_id, NULL) AS blamed_app_id, iif(c.place IN (1, 6), h.model_id, NULL) AS blamed_model_id,
	iif(c.place IN (1, 6), h.priority, NULL) AS blamed_priority, c.place <= 4 AS proved, 0 AS followed
FROM chosen c LEFT JOIN stored_involved h ON c.blamed IN (@blamed:app@, @blamed:queued_behind@, @blamed:inversion@) AND h.execution_id = c.culprit_execution_id;

-- Who was submitted too late after a call that missed its deadline was late by the same doing.
CREATE UNIQUE INDEX temp.doer_of ON doer(execution_id);
CREATE TEMP TABLE follower(execution_id INTEGER PRIMARY KEY, after_id INTEGER);
INSERT INTO follower
SELECT l.execution_id, l.after_id FROM stored_late_start l CROSS JOIN doer d ON d.execution_id = l.execution_id
WHERE l.after_id IS NOT NULL AND d.blamed = @blamed:submitted_late@;
CREATE INDEX temp.follower_of ON follower(after_id);

CREATE TEMP TABLE inherited AS
WITH RECURSIVE chain(execution_id, first_id) AS (
	SELECT f.execution_id, f.after_id FROM follower f WHERE NOT EXISTS (SELECT 1 FROM follower b WHERE b.execution_id = f.after_id)
	UNION ALL SELECT f.execution_id, c.first_id FROM chain c CROSS JOIN follower f ON f.after_id = c.execution_id)
SELECT c.execution_id, d.blamed, d.blamed_app_id, d.blamed_model_id, d.blamed_priority FROM chain c CROSS JOIN doer d ON d.execution_id = c.first_id;

UPDATE doer SET blamed = iif(i.blamed IN (@blamed:several@, @blamed:unknown@), @blamed:late@, i.blamed),
	mostly = NULL, blamed_app_id = iif(i.blamed IN (@blamed:several@, @blamed:unknown@), NULL, i.blamed_app_id), blamed_model_id = i.blamed_model_id, blamed_priority = i.blamed_priority, proved = 0, followed = 1
FROM inherited i WHERE i.execution_id = doer.execution_id AND i.blamed <> @blamed:submitted_late@;
UPDATE doer SET blamed = @blamed:stood@, proved = 0
WHERE blamed = @blamed:submitted_late@ AND execution_id IN (SELECT execution_id FROM stored_late_start WHERE stood_ns IS NOT NULL);

-- A thread that waited for a cpu is late by the machine's doing, and by its own where it would have been too late without that, too. All of a wait is right before
-- the submission if the thread came on a cpu only once meanwhile; otherwise it may have slept until a time of its own in between. Even if it did not, it may have
-- called for a sleep until a planned time that the wait had already passed. So a wait is never certain, only likely. Nor is the thread certain where the whole
-- machine may have stood still.
UPDATE doer SET blamed = w.blamed, proved = w.blamed = @blamed:thread@ AND doer.proved AND w.by_itself FROM (
	SELECT l.execution_id, l.by_itself IS 1 AS by_itself,
		CASE WHEN l.met = 1 OR l.met IS NULL AND c.late_ns > 0 AND l.delay_ns >= c.late_ns THEN @blamed:waited@
			WHEN l.met = 0 AND l.lead_ns IS NULL THEN @blamed:thread@ END AS blamed
	FROM stored_late_start l
		JOIN stored_miss_cause c ON c.execution_id = l.execution_id AND c.is_primary AND c.cause = @cause:submitted_late@
	WHERE l.delay_ns IS NOT NULL) w
WHERE w.blamed IS NOT NULL AND doer.blamed = @blamed:submitted_late@ AND doer.execution_id = w.execution_id;

INSERT INTO stored_miss_blame
SELECT x.app_id, x.model_id, x.priority, d.cause, d.blamed, d.mostly, d.blamed_app_id, d.blamed_model_id, d.blamed_priority, d.proved, d.followed, count(*), sum(d.persistent),
	CAST(total(c.late_ns) AS INTEGER), min(nullif(b.base, 0)), max(nullif(b.base, 0))
FROM doer d CROSS JOIN stored_involved x ON x.execution_id = d.execution_id JOIN stored_miss_cause c ON c.execution_id = d.execution_id AND c.is_primary
	LEFT JOIN stored_execution b ON b.id = d.execution_id
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11;

DROP TABLE inherited;
DROP TABLE follower;
DROP TABLE doer;
DROP VIEW whole_cause;
DROP VIEW unrun;
DROP TABLE delay;
DROP TABLE stopped;

INSERT INTO stored_short_budget
WITH budgets AS (
	SELECT x.app_id, ifnull(m.name, '') AS model, c.cause, x.deadline - coalesce(x.submitted, x.request_read) AS budget_ns
	FROM stored_miss_cause c CROSS JOIN stored_execution x ON x.id = c.execution_id LEFT JOIN stored_model m ON m.id = x.model_id
	WHERE c.is_primary AND c.cause IN (@cause:too_big@, @cause:too_tight@, @cause:submitted_late@)),
ranked AS (
	SELECT app_id, model, cause, budget_ns, count(*) OVER each AS n, row_number() OVER (PARTITION BY app_id, model, cause ORDER BY budget_ns) AS nth
	FROM budgets WHERE budget_ns IS NOT NULL WINDOW each AS (PARTITION BY app_id, model, cause))
SELECT app_id, model, cause, n, budget_ns FROM ranked WHERE nth = (n + 1) / 2;
