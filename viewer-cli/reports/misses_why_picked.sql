-- misses_why_picked: misses_why for the picked executions; for a WITH.
missed AS (
	SELECT p.app_id, coalesce((SELECT m.name FROM model m WHERE m.id = p.model_id), '') AS model, p.priority, p.cause,
		CASE WHEN p.miss <> 'predicted' THEN p.lateness_ns END AS lateness_ns
	FROM (@missed@) p),
causes AS (
	SELECT @keys@, cause, max(lateness_ns) AS worst_ns, row_number() OVER (PARTITION BY @keys@ ORDER BY count(*) DESC, cause) AS place
	FROM missed GROUP BY @keys@, cause),
worst AS (SELECT @keys@, max(worst_ns) AS worst_ns FROM causes GROUP BY @keys@)
