-- export_wait_ends: one row: the last end and the first beginning of the waits of the execution :id.
SELECT max(ended), min(began)
FROM wait
WHERE execution_id = :id
