-- agree.sql -- two databases of the same run, of which one is attached as other: one row for each execution of which they tell
-- different things. How far apart their times may be is another question (apart.sql).
WITH
of_main AS (SELECT e.exec, e.status, e.path, e.priority, e.miss, e.lateness_ns, e.sides, e.complete, e.preemptions, e.slot_lookups, e.slot_misses,
                   e.cold, e.deadline - t.clock_offset AS deadline, a.key AS app, m.name AS model,
                   ifnull(e.signalled, e.returned) - t.clock_offset AS ended
            FROM main.execution e JOIN main.trace t ON t.id = e.trace_id LEFT JOIN main.app a ON a.id = e.app_id
            LEFT JOIN main.model m ON m.id = e.model_id),
of_other AS (SELECT e.exec, e.status, e.path, e.priority, e.miss, e.lateness_ns, e.sides, e.complete, e.preemptions, e.slot_lookups, e.slot_misses,
                    e.cold, e.deadline - t.clock_offset AS deadline, a.key AS app, m.name AS model,
                    ifnull(e.signalled, e.returned) - t.clock_offset AS ended
             FROM other.execution e JOIN other.trace t ON t.id = e.trace_id LEFT JOIN other.app a ON a.id = e.app_id
             LEFT JOIN other.model m ON m.id = e.model_id)
SELECT 'both have it' AS rule, coalesce(a.exec, b.exec) AS id, NULL AS detail
FROM of_main a FULL JOIN of_other b USING (exec) WHERE a.exec IS NULL OR b.exec IS NULL
UNION ALL
SELECT 'both say the same', a.exec,
       a.status || ' ' || a.path || ' ' || a.priority || ' ' || a.app || ' ' || a.model || ' ' || a.preemptions || ' '
       || a.slot_lookups || ' ' || a.slot_misses || '; '
       || b.status || ' ' || b.path || ' ' || b.priority || ' ' || b.app || ' ' || b.model || ' ' || b.preemptions || ' '
       || b.slot_lookups || ' ' || b.slot_misses
FROM of_main a JOIN of_other b USING (exec)
WHERE (a.status, a.path, a.priority, a.app, a.model, a.preemptions, a.slot_lookups, a.slot_misses, a.cold, a.sides, a.complete)
      IS NOT (b.status, b.path, b.priority, b.app, b.model, b.preemptions, b.slot_lookups, b.slot_misses, b.cold, b.sides,
              b.complete)
   OR a.deadline IS NOT b.deadline
UNION ALL
-- Each reads its own clock at the end, and a deadline may be between the two.
SELECT 'both missed it, or none', a.exec, ifnull(a.miss, '-') || ' ' || ifnull(b.miss, '-')
FROM of_main a JOIN of_other b USING (exec)
WHERE a.miss IS NOT b.miss AND (max(a.ended, b.ended) <= a.deadline OR min(a.ended, b.ended) > a.deadline)
  -- Given up around its deadline: each session dates the event that says so on its own, and it is told after that clock was read.
  AND NOT (a.miss <> 'late' AND b.miss <> 'late' AND min(a.lateness_ns, b.lateness_ns) <= 0 AND max(a.ended, b.ended) >= a.deadline);
