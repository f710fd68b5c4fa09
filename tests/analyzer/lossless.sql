-- lossless.sql -- what holds, beside check.sql, of an honest recording from before its service began until after it ended, of
-- which nothing was lost: one row for each violation.
WITH culprits AS (SELECT blocker.app_id AS by_app_id, e.app_id AS app_id, sum(w.ended - w.began) AS ns
             FROM wait w JOIN execution e ON e.id = w.execution_id JOIN execution blocker ON blocker.id = w.blocker_id
             WHERE e.app_id IS NOT NULL AND blocker.app_id IS NOT NULL GROUP BY 1, 2)
SELECT 'nothing was lost' AS rule, trace_id AS id, events AS detail FROM loss
UNION ALL
SELECT 'every event is of use', id, foreign_events || ', ' || unusable_events FROM trace WHERE foreign_events OR unusable_events
UNION ALL
SELECT 'nothing was left out', NULL, key || ': ' || value FROM meta WHERE key LIKE 'left_out_%' AND value != 0
UNION ALL
SELECT 'every execution is complete', id, quality || ' ' || path FROM execution WHERE quality != 'complete'
UNION ALL
SELECT 'both sides are there', id, sides FROM execution WHERE sides != 'both' AND path != 'prepare'
UNION ALL
SELECT 'who it was is known', id, NULL FROM execution
WHERE app_id IS NULL OR model_id IS NULL OR stream_id IS NULL OR priority IS NULL OR status IS NULL
UNION ALL
SELECT 'an execution is of the app and the model of its burst', e.id, b.id FROM execution e JOIN burst b ON b.id = e.burst_id
WHERE e.app_id <> b.app_id OR e.model_id <> b.model_id
UNION ALL
SELECT 'a burst has the executions that it says it has', b.id, b.executions || ', not ' || ifnull(x.n, 0)
FROM burst b LEFT JOIN (SELECT burst_id, count(*) AS n FROM execution WHERE burst_id IS NOT NULL GROUP BY burst_id) x ON x.burst_id = b.id
WHERE b.executions <> ifnull(x.n, 0)
UNION ALL
SELECT 'who held a lane is known', execution_id, kind || ' ' || (ended - began) || ' ns' FROM wait WHERE occupancy = 'unknown'
UNION ALL
SELECT 'whoever ran was on a lane', e.id, e.run_ns || ' ns' FROM execution e
WHERE e.run_ns > 0 AND e.id NOT IN (SELECT execution_id FROM lane_slice)
UNION ALL
-- Where both its own app and others left a refused execution no time, or work is queued whose rest is unknown, no app is named.
SELECT 'every cause is known', c.execution_id, c.late_ns || ' ns' FROM miss_cause c LEFT JOIN refusal r USING (execution_id)
WHERE c.cause = 'unknown' AND (r.queue_cause IS NOT 'crowded_out' OR (r.own_queue_ns = 0 AND r.others_queue_ns IS NOT NULL
	AND r.holder_app_id IS NOT (SELECT app_id FROM execution e WHERE e.id = c.execution_id)))
UNION ALL
SELECT 'every stream was closed', id, path FROM stream WHERE opened IS NULL OR closed IS NULL
UNION ALL
SELECT 'a miss has a lateness and a deadline', id, miss FROM execution
WHERE miss IS NOT NULL AND (lateness_ns IS NULL OR deadline IS NULL)
UNION ALL
-- Whoever was off the lane in time may have met it. Others owe it to who was refused, or waited for a lane that was held, and was not given up in a stall.
SELECT 'a deadline that fair sharing is certain to meet was met, or others can have made it missed', s.app_id, s.ideal_met_least || ', of ' || ifnull(o.n, 0)
FROM app_sharing s LEFT JOIN (
	SELECT e.app_id, count(*) AS n FROM execution e
	WHERE e.deadline IS NOT NULL AND (e.run_ended <= e.deadline OR e.enqueued IS NULL OR EXISTS (
			SELECT 1 FROM wait w WHERE w.execution_id = e.id AND w.occupancy <> 'idle' AND w.cause <> 'stalled')
		AND NOT EXISTS (SELECT 1 FROM wait w WHERE w.execution_id = e.id AND w.cause = 'stalled' AND w.ended = e.run_ended AND e.status IS NOT 'NONE'))
	GROUP BY 1) o ON o.app_id IS s.app_id
WHERE s.ideal_met_least > ifnull(o.n, 0) AND NOT EXISTS (SELECT 1 FROM service_rules r WHERE r.policy = 'native')
UNION ALL
SELECT 'no more misses than lookups', id, slot_misses || ' of ' || slot_lookups FROM execution WHERE slot_misses > slot_lookups
UNION ALL
SELECT 'a burst has the executions that it counts', b.id, b.executions || ', not ' || ifnull(c.n, 0)
FROM burst b LEFT JOIN (SELECT burst_id, count(*) AS n FROM execution GROUP BY 1) c ON c.burst_id = b.id
WHERE b.executions != ifnull(c.n, 0)
UNION ALL
SELECT 'a slot that missed is of an execution that missed slots', s.execution_id, s.slot
FROM slot_miss s LEFT JOIN execution e ON e.id = s.execution_id WHERE ifnull(e.slot_misses, 0) = 0
UNION ALL
SELECT 'what apps cost each other is what their waits say', coalesce(i.app_id, c.app_id),
       ifnull(i.ns, 'nothing') || ' ns, not ' || ifnull(c.ns, 'any')
FROM interference i FULL JOIN culprits c ON c.by_app_id = i.by_app_id AND c.app_id = i.app_id
WHERE i.ns IS NOT c.ns;
