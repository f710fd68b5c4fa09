-- verdict_starvation_unheld: one row: for how long no execution held the lane during one wait, for how long it is unknown which one did, and for how long at least the runs
-- that held it were on no cpu, for how long no event of the service was recorded though it had requests, for how much of that it went on afterwards, for how much of the time on no cpu
-- their threads had not asked for one, for how long runs held it that took 100 ms and ten times as long as usual, and whose cpu time was not read, whether the cpu time in it of the
-- app that held the lane longest makes the wait too long by itself, and for how much of the silence no execution held the lane. Its execution is a constant, because SQLite looks up
-- waits of a constant alone, and otherwise reads all of them.
@with@,
held AS MATERIALIZED (
  SELECT occupancy, blocker_id, sum(ended - began) AS ns FROM wait WHERE execution_id = @id@ AND began >= @wait_began@ AND ended <= @wait_ended@ GROUP BY 1, 2)
SELECT sum(w.ns) FILTER (WHERE w.occupancy = 'idle') AS idle_ns, sum(w.ns) FILTER (WHERE w.occupancy = 'unknown') AS unknown_ns,
  sum(max(w.ns - h.cpu_ns, 0)) FILTER (WHERE w.occupancy = 'held') AS unrun_ns,
  (SELECT sum(max(min(s.ended, @wait_ended@) - max(s.began, @wait_began@), 0)) FROM silence s WHERE s.instance = (SELECT x.exec >> 52 & 4095 FROM execution x WHERE x.id = @id@)) AS silent_ns,
  (SELECT sum(max(min(s.ended, @wait_ended@) - max(s.began, @wait_began@), 0)) FROM silence s WHERE s.went_on AND s.instance = (SELECT x.exec >> 52 & 4095 FROM execution x WHERE x.id = @id@)) AS paused_ns,
  sum(max(w.ns - h.cpu_ns - h.run_delay_ns, 0)) FILTER (WHERE w.occupancy = 'held') AS asleep_ns,
  sum(w.ns) FILTER (WHERE w.occupancy = 'held' AND h.cpu_ns IS NULL AND w.ns >= 100000000
    AND w.ns > 10 * coalesce((SELECT min(t.p50_ns) FROM typical t WHERE t.model_id = h.model_id AND t.phase = 'run'), (SELECT m.estimate_ns FROM model m WHERE m.id = h.model_id))) AS unread_ns,
  (SELECT sum(max(min(w.ns, b.cpu_ns - max(b.run_ns - w.ns, 0)), 0)) > max(100000000, 10 * coalesce((SELECT min(t.p50_ns) FROM typical t WHERE t.phase = 'run'
      AND t.model_id = (SELECT x.model_id FROM execution x WHERE x.id = @id@)), 0))
    FROM held w JOIN execution b ON b.id = w.blocker_id WHERE w.occupancy = 'held' GROUP BY b.app_id ORDER BY sum(w.ns) DESC, b.app_id LIMIT 1) AS computed_too_long,
  (SELECT sum(max(min(s.ended, v.ended) - max(s.began, v.began), 0)) FROM silence s CROSS JOIN wait v
    WHERE s.instance = (SELECT x.exec >> 52 & 4095 FROM execution x WHERE x.id = @id@) AND v.execution_id = @id@ AND v.occupancy = 'idle' AND v.began >= @wait_began@ AND v.ended <= @wait_ended@) AS silent_idle_ns
FROM held w LEFT JOIN execution h ON h.id = w.blocker_id -- a culprit of a wait alone is not in involved
