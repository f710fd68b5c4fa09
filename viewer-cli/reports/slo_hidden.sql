-- slo_hidden: one row: streams of which an execution may be under way at the end of the recording without any event, because compact events come when
-- an execution is over: each has a possible wait of no known execution until the end, of its app, and of its model if it is a burst. As many of these count
-- as there are streams that may have an execution that a rule selects. n_long: those that may be so for longer than its bound. n_due: for longer than the shortest time that
-- an execution of them had until its deadline. Less than 100 ms count as nothing: summaries come so late. A tracer takes that long to stop, too: where the
-- end of the recording is unknown, 100 ms more count as nothing.
@with@,
ends AS (
	SELECT app_id, model_id, @ended@ - ifnull(began, @began@) - iif((SELECT max(recorded_until) FROM trace) IS NULL, 100000000, min(max(@ended@ - (SELECT max(recorded_until) FROM trace), 0), 100000000)) AS ns,
		row_number() OVER (PARTITION BY app_id, model_id ORDER BY ifnull(began, @began@)) AS nth
	FROM possible_wait WHERE execution_id IS NULL AND app_id IS NOT NULL AND ended >= @ended@ AND ifnull(began < @to@, 1)
		AND @ended@ - ifnull(began, @began@) > 100000000),
meant AS (
	SELECT app_id, iif(path = 'burst', model_id, NULL) AS model_id, count(DISTINCT stream_id) AS n,
		min(deadline - coalesce(submitted, request_read, enqueued)) AS budget_ns
	FROM picked WHERE (@hides@) AND app_id IN (SELECT app_id FROM ends) GROUP BY 1, 2)
SELECT ifnull(sum(e.ns > @open@), 0) AS n_long, ifnull(sum(e.ns > m.budget_ns), 0) AS n_due
FROM ends e JOIN meant m ON m.app_id = e.app_id AND m.model_id IS e.model_id AND e.nth <= m.n
