-- case_deaths: one row per client that died from @since@ to @until@: its connection ended without a goodbye, as the end of its streams shows. n_open:
-- streams that it had open; n_under_way: executions without an answer to it. Leaves out clients without streams, and those that @only@ leaves out.
@with@
SELECT coalesce(nullif(a.name, ''), nullif(q.name, '')) AS app, a.uid AS user, q.pid, count(*) AS n_open, max(s.closed) AS died_at,
	(SELECT count(*) FROM execution x JOIN stream y ON y.id = x.stream_id
		WHERE y.process_id = q.id AND x.returned IS NULL AND x.signalled IS NULL AND x.quality <> 'head') AS n_under_way
FROM stream s JOIN process q ON q.id = s.process_id LEFT JOIN app a ON a.id = q.app_id
WHERE s.reason = 'peer_death' AND s.closed BETWEEN @since@ AND @until@ AND @only@
GROUP BY q.id ORDER BY died_at, q.id
