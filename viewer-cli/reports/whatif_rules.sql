-- whatif_rules: one row per service and set of rules that it had.
SELECT DISTINCT policy, preempt, lanes, deadlines, instance, trace_id
FROM service_rules
