-- silent_services: one row per process of a service: for how long it was silent until the end of the recording, though clients waited (silent_ns; NULL: it was not, or
-- the events do not show it), and how many executions found their service dead (n_dead; of any service), the longest silence first.
SELECT p.pid, max(s.ended - s.began) AS silent_ns, (SELECT ifnull(sum(n), 0) FROM execution_count WHERE status = 'DEAD_OBJECT') AS n_dead
FROM (SELECT DISTINCT trace_id, process_id FROM service_rules) r JOIN process p ON p.id = r.process_id
	LEFT JOIN silence s ON s.process_id = p.id AND NOT s.went_on
GROUP BY p.id HAVING silent_ns IS NOT NULL OR n_dead > 0 ORDER BY silent_ns DESC, p.pid
