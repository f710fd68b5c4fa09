-- summary_overhead: one row: the overhead of all executions together. Leaves out executions that are incomplete or were not answered.
SELECT CASE WHEN count(*) FILTER (WHERE phase = 'overhead') THEN CAST(total(sum_ns) FILTER (WHERE phase = 'overhead') AS INTEGER) END AS overhead_ns,
  CAST(total(sum_ns) FILTER (WHERE phase = 'e2e') AS INTEGER) AS e2e_ns,
  CASE WHEN count(*) FILTER (WHERE phase = 'overhead')
    THEN 100 * total(sum_ns) FILTER (WHERE phase = 'overhead') / nullif(total(sum_ns) FILTER (WHERE phase = 'e2e'), 0) END AS share_percent
FROM phase_stat
