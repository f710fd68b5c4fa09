-- export_preemptions: one row per preemption of the executions :from to :to, by execution and time.
SELECT execution_id, stopped, resumed
FROM preemption
WHERE execution_id BETWEEN :from AND :to
ORDER BY execution_id, stopped
