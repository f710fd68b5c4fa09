-- phases_stored: the time of each phase, one row per group of phase_stat and phase that took any time. share is of the time of all executions of the
-- group. Leaves out executions that are incomplete or were not answered.
@with@
SELECT @keys@, s.phase, s.n, s.p50_ns, 100.0 * s.sum_ns / s.whole_ns AS share_percent
FROM (SELECT app_id, model, priority, path, cold, phase, n, p50_ns, sum_ns,
    max(CASE phase WHEN 'e2e' THEN sum_ns END) OVER (PARTITION BY app_id, model, priority, path, cold) AS whole_ns
  FROM phase_stat WHERE phase <> 'overhead' AND sum_ns > 0) s
  LEFT JOIN apps a ON a.id = s.app_id
WHERE s.phase <> 'e2e'
ORDER BY @order@, instr('prepare send decode fence slots queue run preempted reply return finish signal', s.phase)
