-- overhead_habits: one row per app and model whose bursts are made for one or two executions each: the time to make and free them, per execution,
-- beside the time of the execution from end to end. Leaves out apps with less than 8 such bursts, those of which half of the executions
-- or more failed (a burst whose execution its client gave up is of no more use), and apps for which it is less than 5 % of that
-- time. If the client was not recorded, the service's work for the bursts is a lower bound.
WITH made AS (
	SELECT stream_id, max(kind IN ('burst_make', 'burst_configure')) AS is_new, max(kind = 'burst_make') AS by_client,
		total(took_ns) FILTER (WHERE kind IN ('burst_make', 'burst_free')) AS client_ns,
		total(took_ns) FILTER (WHERE kind IN ('burst_configure', 'burst_close')) AS service_ns
	FROM span WHERE stream_id IS NOT NULL AND began >= @began@ GROUP BY stream_id),
used AS (
	SELECT b.app_id, m.name AS model, count(*) AS n_bursts, sum(b.executions) AS n, min(d.by_client) AS by_client,
		total(iif(d.by_client, d.client_ns, d.service_ns)) AS ns, min(b.opened) AS first, max(b.opened) AS last
	FROM made d CROSS JOIN burst b ON b.id = d.stream_id LEFT JOIN model m ON m.id = b.model_id
	WHERE d.is_new AND b.executions > 0 GROUP BY b.app_id, m.name
	HAVING count(*) >= 8 AND sum(b.executions) <= 2 * count(*)),
took AS (
	SELECT app_id, model, 1.0 * sum(sum_ns) / sum(n) AS e2e_ns FROM phase_stat WHERE path = 'burst' AND phase = 'e2e' GROUP BY app_id, model)
SELECT a.name AS app, nullif(u.model, '') AS model, u.n_bursts, u.n AS n_executions, CAST(u.ns / u.n AS INTEGER) AS around_ns,
	CAST(t.e2e_ns AS INTEGER) AS e2e_mean_ns, CAST(u.ns AS INTEGER) AS sum_ns, u.by_client,
	u.first - @began@ AS first_at, u.last - @began@ AS last_at
FROM used u LEFT JOIN took t ON t.app_id IS u.app_id AND t.model = ifnull(u.model, '') LEFT JOIN app a ON a.id = u.app_id
WHERE (t.e2e_ns IS NULL OR u.ns * 20 >= t.e2e_ns * u.n)
	AND 2 * ifnull((SELECT sum(c.n) FROM execution_count c WHERE c.app_id IS u.app_id AND c.model = ifnull(u.model, '') AND c.path = 'burst'
		AND c.status NOT IN ('NONE', 'MISSED_DEADLINE_TRANSIENT', 'MISSED_DEADLINE_PERSISTENT')), 0) < u.n
ORDER BY sum_ns DESC, app, model
