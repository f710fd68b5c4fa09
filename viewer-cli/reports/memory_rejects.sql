-- memory_rejects: one row per app and cause for which the use of a buffer was rejected. Leaves out apps without rejections.
@with@
SELECT a.name AS app, u.cause, u.status, count(*) AS n_rejected, count(DISTINCT u.buffer_id) AS n_buffers, min(u.at) - @began@ AS first_at
FROM buffer_use u LEFT JOIN buffer b ON b.id = u.buffer_id LEFT JOIN apps a ON a.id = b.app_id
WHERE u.op = 'reject' AND u.at >= @from@ AND u.at < @to@
GROUP BY b.app_id, u.cause, u.status ORDER BY n_rejected DESC, app, u.cause, u.status
