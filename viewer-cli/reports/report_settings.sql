-- report_settings: one row per setting of a service, in order of time.
SELECT instance, policy, preempt, lanes, spin_us, deadlines, at - (SELECT min(began) FROM trace) AS since_ns
FROM service_rules
ORDER BY at
