-- slo_vanished: one row: executions that losses hide entirely. holes: missing in the sequence of numbers of the streams that may have an execution that a rule selects. ends:
-- streams of which a loss may hide the beginning or the end. unbounded: losses without a number of events. events: that the others lost. strangers: of
-- executions whose stream was not recorded either, because an app or a stream came and went within a loss: the most that became ready, by the numbers of
-- the services; -1: unknown. streamless: executions that the rule may select, and whose stream is unknown. A loss counts if an execution that began in the asked time may be hidden in it: compact events come when an execution is
-- over, so a loss long after that time may hide one, too; full events tell of its beginning.
@with@,
compact AS MATERIALIZED (SELECT EXISTS (SELECT 1 FROM picked WHERE complete AND (sides = 'client' OR floor_ns IS NULL AND request_spun_ns IS NULL)) AS are),
losses AS MATERIALIZED (
	SELECT began, ended, events FROM (
		SELECT ifnull(began, @began@) AS began, ifnull(ended, @ended@) AS ended, iif(packets > 0, NULL, events) AS events FROM loss
		UNION ALL SELECT @began@, @ended@, (SELECT iif(sum(lost_packets) > 0, NULL, sum(lost_events)) FROM trace) WHERE NOT EXISTS (SELECT 1 FROM loss))
	WHERE ended >= @from@ AND (began < @to@ OR (SELECT are FROM compact))),
lost AS MATERIALIZED (SELECT min(began) AS began, max(ended) AS ended, count(*) AS n, count(events) AS n_counted, sum(events) AS events FROM losses),
-- of all times, with their names as picked has them
named AS NOT MATERIALIZED (
	SELECT stream_id, path, priority, app_id, model_id, (SELECT name FROM apps WHERE apps.id = x.app_id) AS app,
		(SELECT name FROM models WHERE models.id = x.model_id) AS model FROM execution x),
-- each execution of the streams, with the one before it; where numbers are missing between the two, their executions began between them
steps AS (
	SELECT stream_id, seq, at, lag(seq) OVER stream AS seq_before, lag(at) OVER stream AS at_before, lead(seq) OVER stream IS NULL AS last
	FROM (SELECT stream_id, seq, coalesce(submitted, request_read, enqueued, run_ended) AS at FROM execution
		WHERE stream_id IN (SELECT stream_id FROM named WHERE @hides@))
	WINDOW stream AS (PARTITION BY stream_id ORDER BY seq)),
streams AS (
	SELECT sum(iif(seq_before IS NOT NULL AND ifnull(at_before < @to@, 1) AND ifnull(at >= @from@, 1), seq - seq_before - 1, 0)) AS holes,
		max(ifnull(seq_before IS NULL AND seq > 1 AND at > @from@ AND at > lost.began, 0)) OR max(ifnull(last AND at < @to@ AND at < lost.ended, 0)) AS open
	FROM steps, lost GROUP BY stream_id),
unseen AS (SELECT max(value) FILTER (WHERE key = 'unseen_unknown') AS unknown, max(value) FILTER (WHERE key = 'unseen_executions') AS n FROM meta)
SELECT (SELECT ifnull(sum(holes), 0) FROM streams) AS n_holes, (SELECT ifnull(sum(open), 0) FROM streams) AS n_ends, l.n - l.n_counted AS n_unbounded,
	ifnull(l.events, 0) AS n_events, CASE WHEN NOT l.n THEN 0 WHEN u.unknown IS 0 THEN ifnull(u.n, -1) ELSE -1 END AS n_strangers,
	(SELECT count(*) FROM named WHERE stream_id IS NULL AND @hides@) AS n_streamless
FROM lost l, unseen u
