-- recomputed_holes.sql -- beside recomputed.sql, of a recording with holes: what is unknown is no more than has to be. Attached are truth, the figures of the
-- recording without the holes, and left, those of the recording itself.
CREATE TEMP TABLE hole AS
SELECT l.cpu, l.cause, l.began - t.clock_offset AS began, l.ended - t.clock_offset AS ended FROM loss l JOIN trace t ON t.id = l.trace_id;
CREATE TEMP TABLE span AS
SELECT w.exec, w.began, w.ended, w.n AS happened, l.n AS recorded
FROM (SELECT exec, min(ts) AS began, max(ts) AS ended, count(*) AS n FROM truth.event GROUP BY exec) w
JOIN (SELECT exec, count(*) AS n FROM left.event GROUP BY exec) l ON l.exec = w.exec;

SELECT 'there is a hole' AS rule, NULL AS id, NULL AS detail WHERE NOT EXISTS (SELECT 1 FROM hole)
UNION ALL
-- Events that are discarded lie anywhere before the end of the packet that counts them.
SELECT 'no event was recorded in a hole', e.exec, e.name FROM hole h JOIN left.event e ON e.cpu = h.cpu AND e.ts > h.began AND e.ts < h.ended
WHERE h.cause <> 'events'
UNION ALL
SELECT 'every execution of which there is an event is there', exec, NULL FROM span
WHERE exec NOT IN (SELECT printf('%u', exec) FROM execution)
UNION ALL
-- Of one side alone the other side may be what was lost, so less is sure.
SELECT 'an execution that no hole touches is complete', s.exec, x.path || ' ' || x.quality
FROM span s JOIN execution x ON printf('%u', x.exec) = s.exec JOIN truth.figure f ON f.exec = s.exec
WHERE s.recorded = s.happened AND x.quality <> 'complete' AND (x.path = 'prepare' OR f.submitted IS NOT NULL AND f.request_read IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM hole h WHERE h.began <= s.ended AND h.ended >= s.began)
UNION ALL
SELECT 'an execution of which an event is missing is not complete', s.exec, x.path FROM span s JOIN execution x ON printf('%u', x.exec) = s.exec
WHERE s.recorded <> s.happened AND x.quality = 'complete' AND EXISTS (
	SELECT 1 FROM truth.event e WHERE e.exec = s.exec AND e.name NOT IN ('exec_delay', 'deadline_miss', 'slot_lookup', 'slot_fetch', 'exec_state')
	  AND NOT EXISTS (SELECT 1 FROM left.event l WHERE l.exec = e.exec AND l.ts = e.ts AND l.name = e.name));
