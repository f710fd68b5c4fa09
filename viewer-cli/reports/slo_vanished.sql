-- slo_vanished: one row: executions of the streams that a rule selects that are missing in the sequence of numbers; ends: streams of which a loss may
-- have hidden the beginning or the end; unbounded: intervals that may hide any number of executions, also of apps that came and went in them.
-- Before a head and after a tail, nothing is judged.
@with@,
lost AS (SELECT min(began) AS began, max(ended) AS ended FROM loss),
streams AS (
	SELECT max(seq) - min(seq) + 1 - count(*) AS holes, min(seq) > 1 AS headless,
		min(coalesce(submitted, request_read, enqueued, run_ended)) AS began,
		max(coalesce(submitted, request_read, enqueued, run_ended)) AS ended
	FROM picked WHERE stream_id IN (SELECT stream_id FROM picked WHERE @selection@) GROUP BY stream_id
)
SELECT coalesce(sum(holes), 0) AS n_holes,
	coalesce(sum(headless AND streams.began > lost.began OR streams.ended < lost.ended OR lost.began IS NULL), 0) AS n_ends,
	(SELECT count(*) FROM loss WHERE events IS NULL AND cause NOT IN ('head', 'tail')) AS n_unbounded
FROM streams, lost
