-- losses: one row per buffer that lost events, of a trace, a cpu and, for buffers of a process, a pid. Losses that the tracer did not count are
-- intervals without a number. Leaves out events that were recorded and unusable.
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
