-- services: one row per service that had executions: its trace, its instance, and the number of services.
SELECT trace_id, number >> 20, count(*) OVER () FROM stream WHERE executions > 0 AND trace_id IS NOT NULL AND number IS NOT NULL GROUP BY 1,
	2 ORDER BY 1, 2
