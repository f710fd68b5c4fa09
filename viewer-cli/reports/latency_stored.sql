-- latency_stored: percentiles of a phase, one row per group of phase_stat. Leaves out executions that are incomplete or were not answered.
@with@
SELECT @keys@, s.n, s.p50_ns, s.p90_ns, s.p99_ns, s.max_ns
FROM phase_stat s LEFT JOIN apps a ON a.id = s.app_id
WHERE s.phase = '@phase@' ORDER BY @order@
