-- Preemptions, for the page, ordered by time.
SELECT execution_id, by_execution_id, stopped - @began@ AS stopped, resumed - @began@ AS resumed
FROM preemption
ORDER BY stopped, execution_id
