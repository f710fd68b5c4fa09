-- slots_each: one row per burst, and app and model of its executions, from stored sums; for a FROM.
SELECT b.id, b.app_id, a.name AS app, m.name AS model, b.executions AS n, b.closed - b.opened AS open_ns, b.first_ns FROM burst b LEFT JOIN
	apps a ON a.id = b.app_id LEFT JOIN models m ON m.id = b.model_id WHERE b.executions > 0
