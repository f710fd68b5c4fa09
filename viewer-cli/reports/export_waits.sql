-- export_waits: one row per wait of the executions :from to :to, by execution and time.
SELECT execution_id, began, ended, kind, lane, occupancy, blocker_id, blocker_app_id, cause, open
FROM wait
WHERE execution_id BETWEEN :from AND :to
ORDER BY execution_id, began, ended
