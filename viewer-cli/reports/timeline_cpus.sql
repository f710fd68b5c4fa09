-- timeline_cpus: one row per stretch of time of a cpu that touches the asked span, in their order, where a kernel was recorded. Leaves out times of
-- which the kernel's trace tells nothing.
@with@
SELECT cpu, began - @began@ AS began_at, ended - @began@ AS ended_at, ended - began AS dur_ns, did, tid, name, khz
FROM cpu_state WHERE began < @to@ AND ended > @from@ ORDER BY began, cpu, ended LIMIT @limit@
