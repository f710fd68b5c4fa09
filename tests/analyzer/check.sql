-- check.sql -- what holds of every database, however much the trace had lost: one row for each violation, and none is right.
-- One query, that a plain sqlite3 shell can run.
WITH
-- An execution with what is told about it elsewhere.
phases AS (SELECT execution_id AS id, sum(dur_ns) AS ns, count(*) AS n, count(DISTINCT phase) AS kinds,
                  min(dur_ns) AS least
           FROM execution_phase GROUP BY 1),
waits AS (SELECT execution_id AS id,
                 sum(iif(kind = 'queue', ended - began, 0)) AS queue_ns,
                 sum(iif(kind = 'preempted', ended - began, 0)) AS preempted_ns
          FROM wait GROUP BY 1),
-- The lanes of several services have the same numbers: an execution's number says whose it is.
slices AS (SELECT s.*, e.exec >> 52 AS instance, e.dispatched, e.run_ended, e.complete
           FROM lane_slice s JOIN execution e ON e.id = s.execution_id),
slices_in_order AS (SELECT *, lag(ended) OVER (PARTITION BY trace_id, instance, lane ORDER BY began, ended) AS before
                    FROM slices),
held AS (SELECT execution_id AS id, sum(ended - began) AS ns FROM lane_slice GROUP BY 1),
waits_in_order AS (SELECT *, lag(ended) OVER (PARTITION BY execution_id ORDER BY began, ended) AS before FROM wait),
blame AS (SELECT execution_id AS id, sum(late_ns) AS late_ns, sum(budget_ns) AS budget_ns, sum(is_primary) AS primaries,
                 sum(budget_ns IS NULL) AS no_budget, max(late_ns) AS worst
          FROM miss_cause GROUP BY 1),
windows AS (SELECT app_id, sum(received_ns) AS received_ns, sum(entitled_ns) AS entitled_ns, max(lag_ns) AS lag_ns,
                   count(*) AS n
            FROM app_lag GROUP BY 1),
costs AS (SELECT app_id, model, priority, path, cold, sum(sum_ns) AS ns, max(n) AS n, min(n) AS least, min(sum_ns) AS least_ns
          FROM overhead_cause GROUP BY 1, 2, 3, 4, 5),
overheads AS (SELECT app_id, model, priority, path, cold, sum(sum_ns) AS ns, sum(n) AS n FROM phase_stat WHERE phase = 'overhead'
              GROUP BY 1, 2, 3, 4, 5),
shares AS (SELECT app_id, sum(received_ns) AS received_ns, sum(entitled_ns) AS entitled_ns, max(max_lag_ns) AS max_lag_ns
           FROM app_share GROUP BY 1),
ranked_pools AS (SELECT *, row_number() OVER (PARTITION BY owner, kind ORDER BY took_ns IS NULL, took_ns) AS nth,
                        count(took_ns) OVER (PARTITION BY owner, kind) AS n_took FROM pool_mapping WHERE mapped IS NOT NULL),
pools AS (SELECT owner, kind, count(*) AS n, sum(status IS NOT 'NONE') AS failed, max(bytes) AS largest, total(bytes) AS bytes,
                 sum(unmapped IS NULL AND status IS 'NONE') AS never_unmapped, min(took_ns) FILTER (WHERE nth = (n_took + 1) / 2) AS took_p50_ns
          FROM ranked_pools GROUP BY 1, 2)

-- ---- an execution in itself ----

SELECT 'complete is what quality says, and no trial run' AS rule, id, quality AS detail FROM execution
WHERE complete IS NOT (quality = 'complete' AND path IS NOT 'prepare')
UNION ALL
SELECT 'an enumeration has a value that is none', id, quality || ' ' || sides || ' ' || path || ' ' || ifnull(miss, '-')
FROM execution
WHERE quality NOT IN ('complete', 'head', 'tail', 'gap', 'open') OR sides NOT IN ('both', 'service', 'client')
   OR path NOT IN ('burst', 'sync', 'fenced', 'async', 'prepare', 'unknown') OR miss NOT IN ('predicted', 'aborted', 'late')
UNION ALL
SELECT 'the phases of a complete execution tile it', e.id, e.e2e_ns || ' ns, of which ' || ifnull(p.ns, 'none')
FROM execution e LEFT JOIN phases p USING (id)
WHERE e.complete AND e.sides != 'client' AND p.ns IS NOT e.e2e_ns
UNION ALL
SELECT 'to a client most of it is one dark stretch', e.id, e.e2e_ns || ' ns, of which ' || p.ns
FROM execution e JOIN phases p USING (id) WHERE e.sides = 'client' AND p.ns > e.e2e_ns
UNION ALL
SELECT 'no phase is told twice, or negative', id, n || ' rows, ' || kinds || ' phases, ' || least || ' ns'
FROM phases WHERE n != kinds OR least < 0
UNION ALL
SELECT 'the end-to-end time of a complete execution is known', id, sides FROM execution WHERE complete AND e2e_ns IS NULL
UNION ALL
SELECT 'a trial run is of the service alone, has no deadline, and is on lanes', id, sides || ' ' || ifnull(e2e_ns, '-')
FROM execution WHERE path = 'prepare' AND (sides IS NOT 'service' OR e2e_ns IS NOT NULL OR miss IS NOT NULL OR deadline IS NOT NULL)
UNION ALL
SELECT 'a trial run that is known in full is its queue, its running, and its being preempted', e.id,
       (e.run_ended - e.enqueued) || ' ns, of which ' || ifnull(p.ns, 'none')
FROM execution e LEFT JOIN phases p USING (id)
WHERE e.path = 'prepare' AND e.quality = 'complete' AND ifnull(p.ns, 0) IS NOT e.run_ended - e.enqueued
UNION ALL
SELECT 'boundaries of a complete execution come in their order', id, path FROM execution
WHERE complete AND (request_written < submitted OR request_read < request_written OR decoded < request_read OR fenced < decoded
   OR enqueued < ifnull(fenced, decoded) OR dispatched < enqueued OR run_ended < ifnull(dispatched, enqueued)
   OR (path != 'fenced' AND (result_written < run_ended OR result_read < result_written OR returned < result_read AND status = 'NONE'))
   OR (path != 'fenced' AND returned < result_written AND (status = 'NONE' OR returned < submitted))
   OR (path = 'fenced' AND signalled < run_ended))
UNION ALL
SELECT 'no duration is negative', id, NULL FROM execution
WHERE min(ifnull(e2e_ns, 0), ifnull(run_ns, 0), ifnull(redo_ns, 0), ifnull(cpu_ns, 0), ifnull(queue_ns, 0),
          ifnull(preempted_ns, 0), ifnull(slots_ns, 0)) < 0
UNION ALL
SELECT 'running, queue and all else are parts of the whole', id, e2e_ns || ' ns' FROM execution
WHERE complete AND ifnull(run_ns, 0) + ifnull(queue_ns, 0) + ifnull(preempted_ns, 0) + ifnull(slots_ns, 0) > e2e_ns
UNION ALL
SELECT 'what is run again was run', id, redo_ns || ' of ' || run_ns FROM execution WHERE redo_ns > run_ns
UNION ALL
SELECT 'who was never preempted lost nothing by it', id, preempted_ns || ' ns' FROM execution
WHERE complete AND preemptions = 0 AND (preempted_ns > 0 OR redo_ns > 0)
UNION ALL
SELECT 'slots that missed make an execution of a burst cold', id, cold || ', ' || slot_misses FROM execution
WHERE path = 'burst' AND cold IS NOT NULL AND cold != (slot_misses > 0)
UNION ALL
SELECT 'every execution has an app, a stream and a trace', e.id, NULL FROM execution e
WHERE e.trace_id NOT IN (SELECT id FROM trace) OR e.stream_id NOT IN (SELECT id FROM stream)
   OR (e.app_id IS NOT NULL AND e.app_id NOT IN (SELECT id FROM app))
   OR (e.model_id IS NOT NULL AND e.model_id NOT IN (SELECT id FROM model))
UNION ALL
SELECT 'of a stream each number is one execution', min(id), count(*) || ' times ' || exec FROM execution
WHERE stream_id IS NOT NULL GROUP BY trace_id, stream_id, exec HAVING count(*) > 1
UNION ALL
SELECT 'executions without a stream are counted, and have one event', min(e.id), count(*) || ', not ' || m.value
FROM meta m LEFT JOIN execution e ON e.stream_id IS NULL WHERE m.key = 'joined_streams'
GROUP BY m.value HAVING count(e.id) <> m.value OR count(e.enqueued) OR count(e.dispatched) OR count(e.run_ended) OR count(e.e2e_ns)

-- ---- all of them ----

UNION ALL
SELECT 'executions are counted by what they are', NULL, t.n || ' ' || t.path || ' ' || t.quality || ', not ' || ifnull(c.n, 'any')
FROM (SELECT app_id, path, status, miss, quality, sides, priority, count(*) AS n, count(deadline) AS deadlines,
             ifnull(sum(cold), -1) || ' ' || ifnull(sum(slot_lookups), -1) || ' ' || ifnull(sum(slot_misses), -1) || ' '
                || sum(slot_lookups IS NOT NULL AND cold IS NOT NULL) || ' ' || sum(slot_lookups IS NOT NULL AND cold IS 1) AS slots
      FROM execution WHERE path IS NOT 'prepare' GROUP BY 1, 2, 3, 4, 5, 6, 7) t
LEFT JOIN (SELECT app_id, path, status, miss, quality, sides, priority, sum(n) AS n, sum(deadlines) AS deadlines,
                  ifnull(sum(cold), -1) || ' ' || ifnull(sum(slot_lookups), -1) || ' ' || ifnull(sum(slot_misses), -1) || ' '
                     || sum(slots_known) || ' ' || sum(cold_known) AS slots FROM execution_count
           GROUP BY 1, 2, 3, 4, 5, 6, 7) c
  ON c.app_id IS t.app_id AND c.path IS t.path AND c.status IS t.status AND c.miss IS t.miss AND c.quality = t.quality AND c.sides = t.sides
     AND c.priority IS t.priority
WHERE c.n IS NOT t.n OR c.deadlines != t.deadlines OR c.slots != t.slots
UNION ALL
SELECT 'all that are counted are there', NULL, sum(n) FROM execution_count HAVING sum(n) != (SELECT count(*) FROM execution WHERE path IS NOT 'prepare')
UNION ALL
SELECT 'an execution lies within its block of ids', e.id, b.first_id || ' to ' || b.last_id
FROM execution e LEFT JOIN id_block b ON e.id BETWEEN b.first_id AND b.last_id
WHERE b.first_id IS NULL
   OR b.began > min(ifnull(e.submitted, e.request_read), ifnull(e.request_read, e.submitted))
   OR b.ended < max(ifnull(e.returned, 0), ifnull(e.signalled, 0), ifnull(e.run_ended, 0), ifnull(e.result_written, 0))
UNION ALL
SELECT 'who is counted as begun in the recording has no recorded beginning, and is no trial run', sum(value), h.n
FROM meta, (SELECT ifnull(sum(n), 0) AS n FROM execution_count WHERE quality = 'head') h
WHERE key IN ('app_not_yet', 'app_no_more', 'began_inside') HAVING sum(value) > h.n
UNION ALL
SELECT 'the latest miss is known', value, NULL FROM meta WHERE key = 'latest_miss'
   AND value IS NOT (SELECT id FROM execution WHERE miss IS NOT NULL AND lateness_ns IS NOT NULL ORDER BY coalesce(deadline < submitted, 0), lateness_ns DESC, id LIMIT 1)
UNION ALL
SELECT 'the slowest execution is known', value, NULL FROM meta WHERE key = 'slowest'
   AND value IS NOT (SELECT id FROM execution WHERE e2e_ns IS NOT NULL ORDER BY e2e_ns DESC, id LIMIT 1)
UNION ALL
SELECT 'how slow an app is, is known of all that ran', a.app_id, a.n FROM app_slowdown a
WHERE a.n != (SELECT count(*) FROM execution e WHERE e.app_id IS a.app_id AND complete AND status = 'NONE' AND run_ns > 0 AND e2e_ns IS NOT NULL)
   OR a.p50 < 0.9999 OR a.p99 < a.p50

-- ---- lanes, and waiting for them ----

UNION ALL
SELECT 'no two executions are on a lane at once', execution_id, 'lane ' || lane || ', ' || (before - began) || ' ns'
FROM slices_in_order WHERE began < before
UNION ALL
SELECT 'a slice has an end, and of a complete execution is between dispatch and end', execution_id, 'lane ' || lane FROM slices
WHERE ended < began OR (complete AND (began < dispatched OR ended > run_ended))
UNION ALL
SELECT 'the slices of a complete execution are its running', e.id, e.run_ns || ' ns, not ' || h.ns
FROM execution e JOIN held h USING (id) WHERE (e.complete OR e.path = 'prepare' AND e.quality = 'complete') AND h.ns != e.run_ns
UNION ALL
-- An execution whose summary came too late has no waits. Under the native policy none waits for a lane, and its queue
-- is what its thread took to begin.
SELECT 'the waits of a complete execution are its queue and its being preempted', e.id,
       ifnull(e.queue_ns, 0) || ' + ' || ifnull(e.preempted_ns, 0) || ' ns, not ' || ifnull(w.queue_ns, 0) || ' + '
       || ifnull(w.preempted_ns, 0)
FROM execution e LEFT JOIN waits w USING (id)
WHERE (e.complete OR e.path = 'prepare' AND e.quality = 'complete') AND e.sides != 'client'
  AND NOT (SELECT value FROM meta WHERE key = 'left_out_late')
  AND e.exec >> 52 NOT IN (SELECT instance FROM service_rules WHERE policy = 'native')
  AND (ifnull(e.queue_ns, 0) != ifnull(w.queue_ns, 0) OR ifnull(e.preempted_ns, 0) != ifnull(w.preempted_ns, 0))
UNION ALL
SELECT 'a wait has a length, and no other wait of its execution in it', execution_id, kind || ' ' || (ended - began) || ' ns'
FROM waits_in_order WHERE ended <= began OR began < before
UNION ALL
SELECT 'who blocks is known where a lane was held, and only there', execution_id, occupancy FROM wait
WHERE occupancy NOT IN ('held', 'idle', 'unknown') OR (occupancy = 'held') != (blocker_id IS NOT NULL)
UNION ALL
SELECT 'nobody blocks himself, and whoever blocks is an execution', execution_id, 'blocker ' || blocker_id FROM wait
WHERE blocker_id = execution_id OR (blocker_id IS NOT NULL AND blocker_id NOT IN (SELECT id FROM execution))
UNION ALL
SELECT 'a preemption asks, stops, and resumes, in this order', execution_id, at_op FROM preemption
WHERE stopped < asked OR resumed < stopped OR execution_id NOT IN (SELECT id FROM execution)
   OR (by_execution_id IS NOT NULL AND by_execution_id NOT IN (SELECT id FROM execution))

-- ---- what is not the model's own work ----

UNION ALL
SELECT 'the causes of overhead sum to it', o.app_id, o.model || ': ' || o.ns || ' ns, not ' || ifnull(c.ns, 'any')
FROM overheads o LEFT JOIN costs c ON c.app_id IS o.app_id AND c.model = o.model AND c.priority IS o.priority AND c.path IS o.path
   AND c.cold IS o.cold
WHERE ifnull(c.ns, 0) != o.ns
UNION ALL
SELECT 'a cause of overhead has executions, and time, of a group that has overhead', c.app_id, c.model
FROM costs c LEFT JOIN overheads o ON c.app_id IS o.app_id AND c.model = o.model AND c.priority IS o.priority AND c.path IS o.path
   AND c.cold IS o.cold
WHERE o.n IS NULL OR c.n > o.n OR c.least <= 0 OR c.least_ns <= 0

-- ---- missed deadlines ----

UNION ALL
SELECT 'only a miss has a lateness', id, lateness_ns FROM execution WHERE miss IS NULL AND lateness_ns IS NOT NULL
UNION ALL
SELECT 'who is late by a known time ended after the deadline: well, or when its call failed before it was answered', id, status || ' ' || lateness_ns FROM execution
WHERE miss = 'late' AND (lateness_ns <= 0 OR status != 'NONE' AND (lateness_ns IS NOT returned - deadline OR returned >= result_written OR returned <= deadline))
UNION ALL
SELECT 'who is in time is no miss, and who is not is one', id, NULL FROM execution
WHERE complete AND status = 'NONE' AND deadline IS NOT NULL
  AND (miss IS NOT NULL) != (iif(path = 'fenced', signalled, ifnull(returned, result_written)) > deadline)
UNION ALL
SELECT 'the late ledger of a miss sums to its lateness', e.id, e.lateness_ns || ' ns, not ' || ifnull(b.late_ns, 'anything')
FROM execution e LEFT JOIN blame b USING (id) WHERE e.miss IS NOT NULL AND b.late_ns IS NOT e.lateness_ns
UNION ALL
SELECT 'the budget ledger of a miss sums to its budget', e.id,
       (e.deadline - ifnull(e.submitted, e.request_read)) || ' ns, not ' || b.budget_ns
FROM execution e JOIN blame b USING (id)
WHERE b.no_budget = 0 AND b.budget_ns != e.deadline - ifnull(e.submitted, e.request_read)
UNION ALL
SELECT 'who was submitted too late was seen to be submitted', e.id, NULL
FROM execution e JOIN miss_cause c ON c.execution_id = e.id
WHERE c.cause = 'submitted_late' AND (e.submitted IS NULL OR e.sides = 'service')
UNION ALL
SELECT 'a miss has one primary cause', id, primaries FROM blame WHERE primaries != 1
UNION ALL
SELECT 'only a miss has causes', b.id, NULL FROM blame b LEFT JOIN execution e USING (id) WHERE e.miss IS NULL
UNION ALL
SELECT 'misses added up are those that there are', NULL, ifnull(c.cause, s.cause) FROM (
	SELECT cause, count(DISTINCT execution_id) AS n, sum(is_primary) AS misses, total(late_ns) AS late FROM miss_cause GROUP BY 1) c
FULL JOIN (
	SELECT cause, sum(n) AS n, sum(misses) AS misses, total(late_ns) AS late, min(saved + unsure <= n AND persistent <= misses) AS sound
	FROM miss_stat GROUP BY 1) s USING (cause)
WHERE c.n IS NOT s.n OR c.misses IS NOT s.misses OR NOT s.sound OR (abs(c.late) < 1e15 AND c.late != s.late)
UNION ALL
SELECT 'misses that somebody is to blame for are those that there are', NULL, ifnull(c.cause, s.cause) FROM (
	SELECT cause, sum(is_primary) AS misses, total(late_ns) AS late FROM miss_cause
	WHERE culprit_app_id IS NOT NULL AND late_ns > 0 GROUP BY 1) c
FULL JOIN (SELECT cause, sum(misses) AS misses, total(lost_ns) AS late FROM culprit_stat GROUP BY 1) s USING (cause)
WHERE c.misses IS NOT s.misses OR (abs(c.late) < 1e15 AND c.late != s.late)
UNION ALL
SELECT 'what would have saved a miss took some of it', m.execution_id, m.cause FROM miss_cause m
WHERE m.saved AND (m.late_ns <= 0 OR m.cause IN ('own_run', 'unused', 'unknown'))
UNION ALL
SELECT 'a replay without something is of a miss, and takes one thing away', w.execution_id, w.cause FROM miss_without w
LEFT JOIN execution e ON e.id = w.execution_id
WHERE e.miss IS NULL OR (w.cause IS NOT NULL) + (w.app_id IS NOT NULL) + (w.earlier_ns IS NOT NULL) != 1
   OR (w.model_id IS NOT NULL AND w.app_id IS NULL) OR w.app_id = e.app_id
UNION ALL
SELECT 'a replay without a model is without all models of its name', w.execution_id, m.name FROM miss_without w JOIN model m ON m.id = w.model_id
WHERE m.name <> '' AND m.app_id IS NOT NULL GROUP BY w.execution_id, w.app_id, m.trace_id, m.app_id, m.name HAVING count(*) > 1
UNION ALL
SELECT 'a cause of one culprit is replayed once', w.execution_id, w.cause FROM miss_without w
WHERE w.cause IS NOT NULL AND (SELECT count(*) FROM miss_cause m WHERE m.execution_id = w.execution_id AND m.cause = w.cause AND m.late_ns > 0) < 2
UNION ALL
SELECT 'an execution that never ran waited for lanes no longer than until its deadline', e.id, m.waited
FROM (SELECT execution_id, total(late_ns) AS waited FROM miss_cause
      WHERE cause IN ('queued_behind', 'inversion', 'crowded_out', 'hogged') AND late_ns > 0 GROUP BY 1) m
JOIN execution e ON e.id = m.execution_id
WHERE e.miss = 'predicted' AND e.lateness_ns <= 0 AND e.missed_at <= e.deadline
	AND m.waited > e.deadline - coalesce(e.submitted, e.request_read)
UNION ALL
SELECT 'a culprit is an execution, of that app', m.execution_id, m.cause
FROM miss_cause m LEFT JOIN execution e ON e.id = m.culprit_execution_id
WHERE m.culprit_execution_id IS NOT NULL AND (e.id IS NULL OR e.app_id IS NOT m.culprit_app_id)

-- ---- between apps, and inside one ----

UNION ALL
SELECT 'an inversion is between two priorities of one app', i.victim_id, i.dur_ns || ' ns'
FROM inversion i LEFT JOIN execution v ON v.id = i.victim_id LEFT JOIN execution h ON h.id = i.holder_id
WHERE i.dur_ns <= 0 OR v.app_id IS NOT h.app_id
   OR iif(v.priority = 'high', 2, v.priority = 'medium') <= iif(h.priority = 'high', 2, h.priority = 'medium')
UNION ALL
SELECT 'windows sum to what an app received', s.app_id, s.received_ns || ' ns, not ' || w.received_ns
FROM shares s JOIN windows w USING (app_id)
WHERE abs(s.received_ns - w.received_ns) > w.n OR abs(s.entitled_ns - w.entitled_ns) > w.n -- each window is rounded, and each part of a share
   + (SELECT value FROM meta WHERE key = 'share_parts')
UNION ALL
SELECT 'no window has a lag above the largest', s.app_id, s.max_lag_ns || ' ns, not ' || w.lag_ns
FROM shares s JOIN windows w USING (app_id) WHERE w.lag_ns > s.max_lag_ns
UNION ALL
SELECT 'apps are entitled to what they received, together', NULL, sum(received_ns) || ' ns, not ' || sum(entitled_ns) FROM app_share
HAVING abs(sum(received_ns) - sum(entitled_ns)) > count(*) + sum(received_ns) / 10000 AND NOT EXISTS (SELECT 1 FROM execution WHERE app_id IS NULL)
   AND NOT (SELECT value FROM meta WHERE key = 'left_out_absurd') -- a lane may have been idle beside one that wanted it
UNION ALL
SELECT 'an app that is alone is owed nothing', min(app_id), sum(max_lag_ns) || ' ns' FROM app_share
HAVING count(*) = 1 AND max(max_lag_ns) > 0 AND NOT EXISTS (SELECT 1 FROM execution WHERE app_id IS NULL)
UNION ALL
SELECT 'an app was starved by somebody, or by nobody for no time', execution_id, top_culprit_ns || ' of ' || gap_ns
FROM starvation WHERE gap_ns <= 0 OR top_culprit_ns > gap_ns OR bypassed < 0
UNION ALL
SELECT 'a choice is between two', chosen_id, passed_over_id FROM priority_choice WHERE chosen_id = passed_over_id
UNION ALL
SELECT 'a choice is of the app of the chosen one', c.chosen_id, ifnull(c.app_id, '-') || ', not ' || ifnull(e.app_id, '-')
FROM priority_choice c JOIN execution e ON e.id = c.chosen_id WHERE c.app_id IS NOT e.app_id
UNION ALL
SELECT 'who is involved is as the execution says', i.execution_id, NULL FROM involved i LEFT JOIN execution e ON e.id = i.execution_id
WHERE e.id IS NULL OR i.app_id IS NOT e.app_id OR i.model_id IS NOT e.model_id OR i.priority IS NOT e.priority OR i.status IS NOT e.status
   OR i.complete IS NOT e.complete OR i.run_ns IS NOT e.run_ns OR i.redo_ns IS NOT e.redo_ns OR i.cpu_ns IS NOT e.cpu_ns
   OR i.preempted_ns IS NOT e.preempted_ns
UNION ALL
SELECT 'who is named is involved', e.id, n.what
FROM (SELECT execution_id AS id, 'preempted' AS what FROM preemption UNION SELECT by_execution_id, 'preempts' FROM preemption
      UNION SELECT victim_id, 'victim' FROM inversion UNION SELECT holder_id, 'holder' FROM inversion
      UNION SELECT execution_id, 'missed' FROM miss_cause UNION SELECT culprit_execution_id, 'culprit' FROM miss_cause) n
JOIN execution e ON e.id = n.id WHERE NOT EXISTS (SELECT 1 FROM involved i WHERE i.execution_id = n.id)

UNION ALL
SELECT 'each missed deadline is somebody''s doing, or of unknown doing, once', NULL, ifnull(c.cause, b.cause) || ': ' || ifnull(c.n, 0) || ', not ' || ifnull(b.n, 0)
FROM (SELECT cause, count(*) AS n FROM miss_cause WHERE is_primary GROUP BY 1) c
FULL JOIN (SELECT cause, sum(n) AS n FROM miss_blame GROUP BY 1) b USING (cause) WHERE c.n IS NOT b.n
UNION ALL
SELECT 'an app is not blamed for its own misses as for those of others', app_id, blamed FROM miss_blame
WHERE blamed_app_id = app_id OR blamed IS NULL OR (blamed_app_id IS NOT NULL AND blamed NOT IN ('app', 'held', 'several', 'unknown'))
   OR (mostly IS NOT NULL AND blamed NOT IN ('several', 'unknown'))
UNION ALL
SELECT 'a miss is replayed or not once, for a reason, and only a replay answers', ifnull(r.execution_id, w.execution_id), r.outcome
FROM (SELECT execution_id, max(outcome) AS outcome, count(*) AS n, count(outcome) AS named FROM miss_replay GROUP BY 1) r
	FULL JOIN (SELECT DISTINCT execution_id FROM miss_without) w USING (execution_id) LEFT JOIN execution e ON e.id = r.execution_id
WHERE r.n IS NOT 1 OR r.named IS NOT 1 OR e.miss IS NULL OR (w.execution_id IS NOT NULL AND r.outcome NOT IN ('replayed', 'budget'))
UNION ALL
SELECT 'a late start is of a miss, and after a call of the same app, or none', l.execution_id, l.after_id FROM late_start l
LEFT JOIN execution e ON e.id = l.execution_id LEFT JOIN execution a ON a.id = l.after_id
WHERE e.miss IS NULL OR (l.after_id IS NOT NULL) + (l.stood_ns IS NOT NULL) + (l.delay_ns IS NOT NULL) <> 1 OR l.stood_ns <= 0 OR l.lead_ns <= 0
   OR (l.delay_ns IS NOT NULL AND l.delay_ns IS NOT e.submit_delay_ns) OR l.lead_ns > l.delay_ns OR (l.met = 1 AND l.lead_ns IS NULL) OR (l.after_id IS NOT NULL AND a.app_id IS NOT e.app_id)
   OR l.planned >= e.submitted
UNION ALL
SELECT 'how long a thread had no cpu before it submitted is known in all, or in nothing', id, submit_turns FROM execution
WHERE (submit_turns IS NULL) <> (submit_delay_ns IS NULL) OR (submit_turns IS NULL) <> (submit_gap_ns IS NULL) OR submit_turns = 0 OR (submit_turns IS NOT NULL AND miss IS NULL)
UNION ALL
SELECT 'primary causes are added up', p.cause, p.n || ' misses, not ' || s.n
FROM (SELECT app_id, model_id, cause, culprit_app_id, sum(n) AS n, sum(persistent) AS persistent, sum(executions_known) AS known, total(late_ns) AS ns,
        sum(saved) AS saved, sum(unsure) AS unsure, sum(saved_without_app) AS without_app, sum(unsure_without_app) AS unsure_app, min(first) AS first, max(last) AS last
      FROM primary_miss GROUP BY 1, 2, 3, 4) s
FULL JOIN (SELECT i.app_id, i.model_id, c.cause, c.culprit_app_id, count(*) AS n, sum(i.status IS 'MISSED_DEADLINE_PERSISTENT') AS persistent,
             count(h.id) AS known, total(c.late_ns) AS ns, total(abs(c.late_ns)) AS size,
             sum(CASE WHEN w.execution_id IS NULL THEN o.best IS 1 ELSE w.met IS 1 END) AS saved,
             sum(CASE WHEN w.execution_id IS NULL THEN o.best IS NOT 1 AND o.n_known < o.n ELSE w.met IS NULL END) AS unsure,
             sum(a.met IS 1) AS without_app, sum(a.met IS NULL) AS unsure_app,
             min(nullif(coalesce(i.submitted, i.request_written, i.request_read, i.decoded, i.fenced, i.enqueued, i.dispatched, i.run_ended, i.result_written,
               i.result_read, i.returned, i.signalled), 0)) AS first,
             max(nullif(coalesce(i.submitted, i.request_written, i.request_read, i.decoded, i.fenced, i.enqueued, i.dispatched, i.run_ended, i.result_written,
               i.result_read, i.returned, i.signalled), 0)) AS last
           FROM miss_cause c JOIN execution i ON i.id = c.execution_id LEFT JOIN execution h ON h.id = c.culprit_execution_id
             LEFT JOIN miss_without w ON w.execution_id = c.execution_id AND w.cause = c.cause
             LEFT JOIN miss_without a ON a.execution_id = c.execution_id AND a.app_id = c.culprit_app_id AND a.model_id IS NULL
             JOIN (SELECT execution_id, cause, max(saved) AS best, count(saved) AS n_known, count(*) AS n FROM miss_cause GROUP BY 1, 2) o
               ON o.execution_id = c.execution_id AND o.cause = c.cause
           WHERE c.is_primary GROUP BY 1, 2, 3, 4) p
  ON p.app_id IS s.app_id AND p.model_id IS s.model_id AND p.cause IS s.cause AND p.culprit_app_id IS s.culprit_app_id
WHERE s.n IS NOT p.n OR s.persistent IS NOT p.persistent OR s.known IS NOT p.known
   OR s.saved IS NOT p.saved OR s.unsure IS NOT p.unsure OR s.without_app IS NOT p.without_app OR s.unsure_app IS NOT p.unsure_app
   OR s.first IS NOT p.first OR s.last IS NOT p.last
   OR (p.size < 4e18 AND abs(s.ns - p.ns) > p.size / 1e6) -- beyond, sums end at the largest number
UNION ALL
SELECT 'half of those that had too little time had at most so much', b.cause, b.p50_ns
FROM short_budget b
WHERE NOT (SELECT count(*) = b.n AND sum(ns < b.p50_ns) < (b.n + 1) / 2 AND sum(ns <= b.p50_ns) >= (b.n + 1) / 2
           FROM (SELECT x.deadline - coalesce(x.submitted, x.request_read) AS ns FROM miss_cause c JOIN execution x ON x.id = c.execution_id
                   LEFT JOIN model m ON m.id = x.model_id
                 WHERE c.is_primary AND c.cause = b.cause AND x.app_id IS b.app_id AND ifnull(m.name, '') = b.model) WHERE ns IS NOT NULL)

-- ---- memory ----

UNION ALL
SELECT 'what is unmapped was mapped before', id, slot FROM pool_mapping WHERE unmapped < mapped
UNION ALL
SELECT 'pools are added up', coalesce(s.owner, p.owner), coalesce(s.kind, p.kind)
FROM pools p FULL JOIN pool_stat s ON s.owner IS p.owner AND s.kind IS p.kind
WHERE s.n IS NOT p.n OR s.failed IS NOT p.failed OR s.largest IS NOT p.largest OR s.never_unmapped IS NOT p.never_unmapped
   OR s.took_p50_ns IS NOT p.took_p50_ns OR abs(ifnull(s.bytes, 0) - min(p.bytes, 9223372036854775807)) > p.bytes / 1e6 -- a sum ends at the largest number
UNION ALL
SELECT 'at the peak of pools so many were mapped', k.at, k.pools
FROM pool_peak k WHERE k.pools <> (SELECT sum(iif(mapped <= k.at, 1, 0)) - sum(iif(unmapped <= k.at, 1, 0)) FROM pool_mapping WHERE status = 'NONE')
UNION ALL
SELECT 'pools that were mapped have a peak', count(*), NULL FROM pool_mapping WHERE status = 'NONE' AND mapped IS NOT NULL
HAVING (count(*) > 0) <> (SELECT count(*) FROM pool_peak)
UNION ALL
SELECT 'what is freed was there before', id, bytes FROM buffer WHERE freed < allocated
UNION ALL
SELECT 'a loss has a length', trace_id, NULL FROM loss WHERE ended < began
UNION ALL
SELECT 'a service that went on was silent for 100 ms or more', execution_id, (ended - began) || ' ns' FROM silence WHERE went_on AND ended - began < 100000000
UNION ALL
SELECT 'a miss has lost time to a stop only where its service stood still', m.execution_id, m.late_ns || ' ns' FROM miss_cause m JOIN execution e ON e.id = m.execution_id
WHERE m.cause = 'stopped' AND (m.culprit_execution_id IS NOT NULL OR m.late_ns > (
	SELECT total(min(s.ended, coalesce(e.returned, e.signalled, s.ended)) - max(s.began, coalesce(e.submitted, e.request_read))) FROM silence s
	WHERE s.went_on AND s.instance = (e.exec >> 52 & 4095) AND s.ended > coalesce(e.submitted, e.request_read) AND s.began < coalesce(e.returned, e.signalled, s.ended)))
UNION ALL
SELECT 'what is unknown is NULL, and no number beyond any that there is', what, ns FROM (
	SELECT 'app_lag.lag_ns' AS what, lag_ns AS ns FROM app_lag UNION ALL SELECT 'app_lag.most_ns', most_ns FROM app_lag
	UNION ALL SELECT 'app_share.max_lag_ns', max_lag_ns FROM app_share UNION ALL SELECT 'app_share.most_lag_ns', most_lag_ns FROM app_share
	UNION ALL SELECT 'inversion.dur_ns', dur_ns FROM inversion UNION ALL SELECT 'starvation.gap_ns', gap_ns FROM starvation
	UNION ALL SELECT 'interference.ns', ns FROM interference UNION ALL SELECT 'execution.redo_ns', redo_ns FROM execution)
WHERE ns >= 4611686018427387904 OR ns <= -4611686018427387904;
