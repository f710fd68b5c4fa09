-- sharing_asleep: one row per app and service with policy native: for how long at most its executions were on no cpu and had not asked for one, as for a page.
@with@, native AS MATERIALIZED (SELECT DISTINCT trace_id, instance FROM service_rules WHERE policy = 'native')
SELECT n.trace_id, n.instance, p.app_id, sum(max(p.run_ns - ifnull(p.cpu_ns, 0) - ifnull(p.run_delay_ns, 0), 0)) AS asleep_ns
FROM native n CROSS JOIN picked p ON p.trace_id IS n.trace_id AND (p.exec >> 52 & 4095) = n.instance
WHERE p.run_ns IS NOT NULL AND p.app_id IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
