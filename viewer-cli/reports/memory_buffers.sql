-- memory_buffers: one row per app: buffers that the driver kept for the app or refused to keep, copies of them, and forbidden uses. Leaves out apps
-- without buffers.
@with@, uses AS (
	SELECT b.app_id, sum(u.op = 'to') AS n_to, sum(u.op = 'from') AS n_from, sum(u.op = 'reject') AS n_rejected,
		sum(CASE WHEN u.op <> 'reject' THEN u.bytes END) AS bytes, sum(CASE WHEN u.op <> 'reject' THEN u.took_ns END) AS took_ns,
		percentile(CASE WHEN u.op <> 'reject' THEN u.took_ns END, 50) AS p50
	FROM buffer_use u LEFT JOIN buffer b ON b.id = u.buffer_id WHERE u.at >= @from@ AND u.at < @to@ GROUP BY b.app_id),
kept AS (
	SELECT app_id, count(*) AS n, sum(status IS NOT 'NONE') AS n_refused, sum(CASE WHEN status IS 'NONE' THEN bytes END) AS bytes,
		max(CASE WHEN status IS 'NONE' THEN bytes END) AS largest, sum(freed IS NULL AND status IS 'NONE') AS n_kept,
		percentile(freed - allocated, 50) AS lived
	FROM buffer WHERE allocated >= @from@ AND allocated < @to@ GROUP BY app_id),
all_apps AS (SELECT app_id FROM kept UNION SELECT app_id FROM uses)
SELECT a.name AS app, coalesce(k.n, 0) AS n_buffers, coalesce(k.n_refused, 0) AS n_refused, coalesce(u.n_rejected, 0) AS n_rejected, k.bytes,
	coalesce(u.n_to, 0) AS n_copied_to, coalesce(u.n_from, 0) AS n_copied_from, u.took_ns AS copying_ns, u.p50 AS copy_p50_ns,
	u.bytes AS copied_bytes, k.largest AS largest_bytes, k.lived AS lived_p50_ns, coalesce(k.n_kept, 0) AS n_never_freed
FROM all_apps s LEFT JOIN kept k ON k.app_id IS s.app_id LEFT JOIN uses u ON u.app_id IS s.app_id LEFT JOIN apps a ON a.id = s.app_id
ORDER BY n_buffers DESC, a.name, s.app_id
