-- recomputed_whole.sql -- the other half of recomputed.sql: of a recording of which nothing is missing, one row for each thing that the
-- events say and the database does not.
CREATE TEMP TABLE said AS
SELECT e.*, printf('%u', e.exec) AS number, t.clock_offset AS zero FROM execution e JOIN trace t ON t.id = e.trace_id;
CREATE INDEX temp.said_of ON said(number);
CREATE TEMP TABLE number AS SELECT id, number, zero FROM said;

SELECT 'every execution is there, and complete' AS rule, f.exec AS id, ifnull(s.quality, 'none') AS detail
FROM truth.figure f LEFT JOIN said s ON s.number = f.exec WHERE s.quality IS NOT 'complete'
UNION ALL
SELECT 'every missed deadline is known', f.exec, s.status FROM truth.figure f JOIN said s ON s.number = f.exec
WHERE f.missed AND s.miss IS NULL
UNION ALL
SELECT 'every time on a lane is there', NULL, (SELECT count(*) FROM lane_slice) || ', not ' || (SELECT count(*) FROM truth.slice)
WHERE (SELECT count(*) || ' ' || total(ended - began) FROM lane_slice) <> (SELECT count(*) || ' ' || total(ended - began) FROM truth.slice)
UNION ALL
SELECT 'every wait is there', p.exec, p.kind || ' for ' || (p.ended - p.began) || ' ns, not ' || sum(w.ended - w.began)
FROM truth.pause p JOIN said s ON s.number = p.exec
LEFT JOIN wait w ON w.execution_id = s.id AND w.kind = p.kind AND w.began - zero >= p.began AND w.ended - zero <= p.ended
GROUP BY p.exec, p.began, p.ended HAVING ifnull(sum(w.ended - w.began), 0) <> p.ended - p.began
UNION ALL
SELECT 'it is known who held up each wait', n.number, w.kind || ' for ' || (w.ended - w.began) || ' ns'
FROM wait w JOIN number n ON n.id = w.execution_id WHERE w.occupancy = 'unknown'
UNION ALL
SELECT 'it is known how often each execution was bypassed', f.exec, NULL FROM truth.figure f JOIN said s ON s.number = f.exec
WHERE f.enqueued IS NOT NULL AND f.run_ended IS NOT NULL AND s.bypassed IS NULL
UNION ALL
SELECT 'every preemption is there', e.exec, e.other FROM truth.event e
WHERE e.name = 'sched_preempt' AND NOT EXISTS (
	SELECT 1 FROM preemption p JOIN number n ON n.id = p.execution_id JOIN number b ON b.id = p.by_execution_id
	WHERE n.number = e.exec AND b.number = e.other AND p.stopped - n.zero = e.ts)
UNION ALL
SELECT 'an app had the lanes that long', a.key, sum(l.ended - l.began) || ' ns, not ' || t.ns
FROM lane_slice l JOIN execution e ON e.id = l.execution_id JOIN app a ON a.id = e.app_id
JOIN (SELECT f.app, sum(s.ended - s.began) AS ns FROM truth.slice s JOIN truth.figure f USING (exec) GROUP BY 1) t ON t.app = a.key
GROUP BY a.key, t.ns HAVING sum(l.ended - l.began) <> t.ns
UNION ALL
-- With what it was handed: from when the lane was free, and the execution ready.
SELECT 'an app received that much of the lanes', a.key, r.received_ns || ' ns, not ' || t.ns
FROM app_share r JOIN app a ON a.id = r.app_id
JOIN (SELECT f.app, sum(s.ended - max(ifnull((SELECT max(b.ended) FROM truth.slice b WHERE b.lane = s.lane AND b.ended <= s.began), 0),
                                     (SELECT max(p.began) FROM truth.pause p WHERE p.exec = s.exec AND p.ended = s.began))) AS ns
      FROM truth.slice s JOIN truth.figure f USING (exec) GROUP BY 1) t ON t.app = a.key
WHERE r.received_ns <> t.ns
UNION ALL
SELECT 'whoever waited so long starved', p.exec, (p.ended - p.began) || ' ns'
FROM truth.pause p JOIN said s ON s.number = p.exec
JOIN (SELECT model_id, max(run_ns) AS longest_ns FROM said GROUP BY 1) m ON m.model_id = s.model_id
WHERE p.ended - p.began > max(100000000, 10 * m.longest_ns)
  AND NOT EXISTS (SELECT 1 FROM starvation v WHERE v.execution_id = s.id AND v.gap_ns = p.ended - p.began);
