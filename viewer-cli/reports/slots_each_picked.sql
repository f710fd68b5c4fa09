-- slots_each_picked: slots_each over the picked executions; for a FROM.
SELECT b.id, p.app_id, p.app, p.model, count(*) AS n, b.closed - b.opened AS open_ns, b.first_ns FROM picked p CROSS JOIN burst b ON b.id =
	p.burst_id GROUP BY b.id, p.app_id, p.model
