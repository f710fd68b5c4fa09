-- phases_stored: the time of each phase, one row per group of phase_stat and phase that took any time. share is of the time of all executions of the
-- group. Leaves out executions that are incomplete or were not answered.
@with@,
-- not a window: SQLite would sort all rows by their groups first
whole AS MATERIALIZED (SELECT app_id, model, priority, path, cold, sum_ns FROM phase_stat WHERE phase = 'e2e' AND sum_ns > 0)
SELECT @keys@, s.phase, s.n, s.p50_ns, 100.0 * s.sum_ns / w.sum_ns AS share_percent
FROM phase_stat s
  LEFT JOIN whole w ON w.app_id IS s.app_id AND w.model IS s.model AND w.priority IS s.priority AND w.path IS s.path AND w.cold IS s.cold
  LEFT JOIN apps a ON a.id = s.app_id
WHERE s.phase NOT IN ('e2e', 'overhead') AND s.sum_ns > 0
ORDER BY @order@, instr('prepare send decode fence slots queue run preempted reply return finish signal', s.phase)
