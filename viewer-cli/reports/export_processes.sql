-- export_processes: one row per process of a client, in the order of their ids: its pid, its app, and whether no process before it has this pid.
SELECT id, pid, app_id, row_number() OVER (PARTITION BY pid ORDER BY id) = 1
FROM process
WHERE role = 'client'
ORDER BY id
