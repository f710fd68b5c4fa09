-- losses: a row per buffer that lost events, of a trace, a cpu and, where buffers are a process's, a pid. Losses that nobody counted are
-- intervals without a number. Leaves out events that were recorded, and could not be used.
SELECT
	l.trace_id,
	l.cpu,
	l.pid,
	count(*) AS n_intervals,
	sum(l.events) AS n_events,
	sum(l.packets) AS n_packets,
	max(l.ended - l.began) AS longest_ns,
	min(l.began) - @began@ AS first_at,
	max(l.ended) - @began@ AS last_at
FROM loss l
WHERE l.cause <> 'unusable'
GROUP BY l.trace_id, l.cpu, l.pid
ORDER BY n_events DESC, l.trace_id, l.cpu, l.pid
