-- recomputed_lanes.sql -- beside recomputed.sql, what the database says of lanes and of waits for them and is not so. The truth is that of a recording without
-- holes, because what was on a lane in a hole the events of a recording with holes cannot tell.
CREATE TEMP TABLE number AS
SELECT e.id, printf('%u', e.exec) AS number, t.clock_offset AS zero FROM execution e JOIN trace t ON t.id = e.trace_id;
CREATE UNIQUE INDEX temp.number_of ON number(id);
CREATE TEMP TABLE waited AS
SELECT n.number, w.kind, w.lane, w.occupancy, b.number AS blocker, w.began - n.zero AS began, w.ended - n.zero AS ended
FROM wait w JOIN number n ON n.id = w.execution_id LEFT JOIN number b ON b.id = w.blocker_id;

SELECT 'an execution is on a lane when it was on it' AS rule, n.number AS id, 'lane ' || l.lane || ' for ' || (l.ended - l.began) || ' ns' AS detail
FROM lane_slice l JOIN number n ON n.id = l.execution_id
WHERE NOT EXISTS (SELECT 1 FROM truth.slice s WHERE s.exec = n.number AND s.lane = l.lane AND s.began <= l.began - zero AND l.ended - zero <= s.ended)
UNION ALL
SELECT 'an execution waits when it waited', number, kind || ' for ' || (ended - began) || ' ns' FROM waited w
WHERE NOT EXISTS (SELECT 1 FROM truth.pause p WHERE p.exec = w.number AND p.kind = w.kind AND p.began <= w.began AND w.ended <= p.ended)
UNION ALL
SELECT 'a wait is for the lane that it ends on', number, 'lane ' || lane FROM waited w
WHERE occupancy <> 'unknown' AND lane NOT IN (SELECT p.lane FROM truth.pause p WHERE p.exec = w.number AND p.began <= w.began AND w.ended <= p.ended)
UNION ALL
SELECT 'an execution that held up a wait was on that lane', number, 'for ' || blocker || ', ' || (ended - began) || ' ns' FROM waited w
WHERE occupancy = 'held'
  AND NOT EXISTS (SELECT 1 FROM truth.slice s WHERE s.exec = w.blocker AND s.lane = w.lane AND s.began <= w.began AND w.ended <= s.ended)
UNION ALL
SELECT 'a lane that is said to be idle was idle', number, 'lane ' || lane || ' for ' || (ended - began) || ' ns' FROM waited w
WHERE occupancy = 'idle' AND (SELECT max(s.ended) FROM truth.slice s WHERE s.lane = w.lane AND s.began < w.ended) > w.began
UNION ALL
SELECT 'a preemption happened then, and was by that execution', n.number, ifnull(b.number, '-')
FROM preemption p JOIN number n ON n.id = p.execution_id LEFT JOIN number b ON b.id = p.by_execution_id
WHERE NOT EXISTS (SELECT 1 FROM truth.event e WHERE e.exec = n.number AND e.name = 'sched_preempt' AND e.ts = p.stopped - n.zero AND e.other = ifnull(b.number, e.other))
UNION ALL
SELECT 'an app had at least so much of the lanes', a.key, sum(l.ended - l.began) || ' ns, of ' || t.ns
FROM lane_slice l JOIN execution e ON e.id = l.execution_id JOIN app a ON a.id = e.app_id
JOIN (SELECT f.app, sum(s.ended - s.began) AS ns FROM truth.slice s JOIN truth.figure f USING (exec) GROUP BY 1) t ON t.app = a.key
GROUP BY a.key, t.ns HAVING sum(l.ended - l.began) > t.ns
UNION ALL
SELECT 'an execution that starved waited at least that long', n.number, s.gap_ns FROM starvation s JOIN number n ON n.id = s.execution_id
WHERE s.gap_ns > (SELECT ifnull(max(p.ended - p.ready), 0) FROM truth.pause p WHERE p.exec = n.number)
UNION ALL
-- A holder of the same priority, or of another app, inverts nothing.
SELECT 'an execution that inverted a wait was of the same app, of a lower priority, and on that lane', v.number,
       'by ' || h.number || ' of priority ' || ifnull(f.priority, '-') || ', not below ' || ifnull(w.priority, '-') || ', for ' || i.dur_ns || ' ns'
FROM inversion i JOIN number v ON v.id = i.victim_id JOIN number h ON h.id = i.holder_id
LEFT JOIN truth.figure w ON w.exec = v.number LEFT JOIN truth.figure f ON f.exec = h.number
WHERE NOT ifnull(f.app = w.app AND f.priority < w.priority, 0)
   OR NOT EXISTS (SELECT 1 FROM truth.pause p WHERE p.exec = v.number AND p.ready <= i.began - v.zero AND i.began + i.dur_ns - v.zero <= p.ended)
   OR NOT EXISTS (SELECT 1 FROM truth.slice s WHERE s.exec = h.number AND s.lane = i.lane AND s.began <= i.began - h.zero
                  AND i.began + i.dur_ns - h.zero <= s.ended)
UNION ALL
SELECT 'a wait that is called an inversion was for the same app''s execution of a lower priority', n.number, ifnull(b.number, '-') || ' for ' || (x.ended - x.began) || ' ns'
FROM wait x JOIN number n ON n.id = x.execution_id LEFT JOIN number b ON b.id = x.blocker_id
LEFT JOIN truth.figure w ON w.exec = n.number LEFT JOIN truth.figure f ON f.exec = b.number
WHERE x.cause = 'inversion' AND NOT ifnull(f.app = w.app AND f.priority < w.priority, 0)
UNION ALL
SELECT 'an execution was bypassed so often, if that is known', n.number, e.bypassed || ', not ' || (SELECT count(*) FROM truth.bypass y WHERE y.exec = n.number)
FROM execution e JOIN number n USING (id) WHERE e.bypassed <> (SELECT count(*) FROM truth.bypass y WHERE y.exec = n.number)
UNION ALL
SELECT 'an execution that starved was bypassed that often at least', n.number, s.bypassed FROM starvation s JOIN number n ON n.id = s.execution_id
WHERE s.bypassed > (SELECT count(*) FROM truth.bypass y WHERE y.exec = n.number);
