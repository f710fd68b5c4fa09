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
shares AS (SELECT app_id, sum(received_ns) AS received_ns, sum(entitled_ns) AS entitled_ns, max(max_lag_ns) AS max_lag_ns
           FROM app_share GROUP BY 1)

-- ---- an execution in itself ----

SELECT 'complete is what quality says' AS rule, id, quality AS detail FROM execution
WHERE complete IS NOT (quality = 'complete')
UNION ALL
SELECT 'an enumeration has a value that is none', id, quality || ' ' || sides || ' ' || path || ' ' || ifnull(miss, '-')
FROM execution
WHERE quality NOT IN ('complete', 'head', 'tail', 'gap', 'open') OR sides NOT IN ('both', 'service', 'client')
   OR path NOT IN ('burst', 'sync', 'fenced', 'async', 'unknown') OR miss NOT IN ('predicted', 'aborted', 'late')
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
SELECT 'boundaries of a complete execution come in their order', id, path FROM execution
WHERE complete AND (request_written < submitted OR request_read < request_written OR decoded < request_read OR fenced < decoded
   OR enqueued < ifnull(fenced, decoded) OR dispatched < enqueued OR run_ended < ifnull(dispatched, enqueued)
   OR (path != 'fenced' AND (result_written < run_ended OR result_read < result_written OR returned < result_read))
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
GROUP BY trace_id, stream_id, exec HAVING count(*) > 1

-- ---- lanes, and waiting for them ----

UNION ALL
SELECT 'no two executions are on a lane at once', execution_id, 'lane ' || lane || ', ' || (before - began) || ' ns'
FROM slices_in_order WHERE began < before
UNION ALL
SELECT 'a slice has an end, and of a complete execution is between dispatch and end', execution_id, 'lane ' || lane FROM slices
WHERE ended < began OR (complete AND (began < dispatched OR ended > run_ended))
UNION ALL
SELECT 'the slices of a complete execution are its running', e.id, e.run_ns || ' ns, not ' || h.ns
FROM execution e JOIN held h USING (id) WHERE e.complete AND h.ns != e.run_ns
UNION ALL
SELECT 'the waits of a complete execution are its queue and its being preempted', e.id,
       ifnull(e.queue_ns, 0) || ' + ' || ifnull(e.preempted_ns, 0) || ' ns, not ' || ifnull(w.queue_ns, 0) || ' + '
       || ifnull(w.preempted_ns, 0)
FROM execution e LEFT JOIN waits w USING (id)
WHERE e.complete AND e.sides != 'client'
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

-- ---- missed deadlines ----

UNION ALL
SELECT 'only a miss has a lateness', id, lateness_ns FROM execution WHERE miss IS NULL AND lateness_ns IS NOT NULL
UNION ALL
SELECT 'who is late ended after the deadline, and well', id, status || ' ' || lateness_ns FROM execution
WHERE miss = 'late' AND (lateness_ns <= 0 OR status != 'NONE')
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
SELECT 'a miss has one primary cause', id, primaries FROM blame WHERE primaries != 1
UNION ALL
SELECT 'only a miss has causes', b.id, NULL FROM blame b LEFT JOIN execution e USING (id) WHERE e.miss IS NULL
UNION ALL
SELECT 'a cause that would have saved is as long as the miss', m.execution_id, m.cause FROM miss_cause m
JOIN execution e ON e.id = m.execution_id -- of who was refused, what was not taken any more counts, too
WHERE e.miss != 'predicted' AND m.saved != (m.late_ns > 0 AND m.late_ns >= e.lateness_ns)
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
WHERE abs(s.received_ns - w.received_ns) > w.n OR abs(s.entitled_ns - w.entitled_ns) > w.n
UNION ALL
SELECT 'no window has a lag above the largest', s.app_id, s.max_lag_ns || ' ns, not ' || w.lag_ns
FROM shares s JOIN windows w USING (app_id) WHERE w.lag_ns > s.max_lag_ns
UNION ALL
SELECT 'an app was starved by somebody, or by nobody for no time', execution_id, top_culprit_ns || ' of ' || gap_ns
FROM starvation WHERE gap_ns <= 0 OR top_culprit_ns > gap_ns OR bypassed < 0
UNION ALL
SELECT 'a choice is between two', chosen_id, passed_over_id FROM priority_choice WHERE chosen_id = passed_over_id

-- ---- memory ----

UNION ALL
SELECT 'what is unmapped was mapped before', id, slot FROM pool_mapping WHERE unmapped < mapped
UNION ALL
SELECT 'what is freed was there before', id, bytes FROM buffer WHERE freed < allocated
UNION ALL
SELECT 'a loss has a length', trace_id, NULL FROM loss WHERE ended < began;
