-- demo_miss: one row: the most late miss with the most frequent cause.
SELECT e.id FROM miss_cause c JOIN execution e ON e.id = c.execution_id WHERE c.is_primary AND c.cause = (SELECT cause FROM miss_cause WHERE
	is_primary GROUP BY cause ORDER BY count(*) DESC, cause LIMIT 1) ORDER BY e.lateness_ns DESC, e.id LIMIT 1
