-- report_has_cpus: one row if a kernel was recorded, too.
SELECT 1 FROM cpu_state LIMIT 1
