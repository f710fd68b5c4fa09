-- Who was taken off a lane, and for whom, for the page: in the order of time.
SELECT execution_id, by_execution_id, stopped - @began@ AS stopped, resumed - @began@ AS resumed
FROM preemption
ORDER BY stopped, execution_id
