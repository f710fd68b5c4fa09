-- verdict_starvation: one row: the facts of the starvation verdict (docs/figures.md).
-- If runs were lost, the median run of a model lies between two of the known runs, and so does the limit of its waits.
@with@,
episodes AS MATERIALIZED (@episodes@),
recorded AS MATERIALIZED (@recorded@), -- by the median of the runs that were recorded, as reports count episodes
waited AS MATERIALIZED (SELECT e.gap_ns, e.app_id, e.model, e.top_culprit_app_id, e.top_culprit_ns, e.execution_id, e.began, x.model_id FROM episodes e LEFT JOIN execution x ON x.id = e.execution_id),
-- runs of their models that were not recorded in full: from what is known of them to all the time that the service had them. Of a fenced execution
-- the answer to its launch may be written before it runs, and ends nothing.
ran AS MATERIALIZED (
	SELECT x.model_id, iif(x.status = 'NONE', ifnull(x.run_ns, 0), 0) AS least_ns, iif(x.status = 'NONE' AND x.run_ns IS NOT NULL, x.run_ns,
		ifnull(coalesce(x.run_ended, x.signalled, iif(x.path <> 'fenced', coalesce(x.result_written, x.result_read, iif(x.status = 'NONE', x.returned, NULL)), NULL))
			- coalesce(x.dispatched, x.enqueued, x.decoded, x.request_read, x.submitted), 9223372036854775807)) AS most_ns
	FROM execution x
	WHERE NOT @sure@ AND x.model_id IN (SELECT model_id FROM waited) AND ifnull(x.status, 'NONE') = 'NONE'
		AND (x.run_ns IS NOT NULL OR x.quality IN ('gap', 'tail'))),
skipped AS MATERIALIZED (
	SELECT ifnull(sum(n), 0) AS n FROM (SELECT max(seq) - min(seq) + 1 - count(*) AS n FROM execution WHERE stream_id IS NOT NULL AND NOT @sure@ AND EXISTS (SELECT 1 FROM waited) GROUP BY stream_id)),
ranked AS (
	SELECT model_id, least_ns, most_ns, row_number() OVER (PARTITION BY model_id ORDER BY least_ns) AS nth_least,
		row_number() OVER (PARTITION BY model_id ORDER BY most_ns) AS nth_most, (count(*) OVER (PARTITION BY model_id) + s.n + 1) / 2 AS middle, s.n AS skipped
	FROM ran CROSS JOIN skipped s),
limits AS MATERIALIZED (
	SELECT model_id, max(least_ns) FILTER (WHERE nth_least = middle - skipped) AS least_ns, max(most_ns) FILTER (WHERE nth_most = middle) AS most_ns
	FROM ranked GROUP BY model_id),
judged AS MATERIALIZED (
	SELECT w.gap_ns, w.app_id, w.model, w.top_culprit_app_id, w.top_culprit_ns, w.execution_id, w.began, @sure@ OR ifnull(w.gap_ns / 10 > l.most_ns, 0) AS sure,
		@sure@ OR ifnull(w.gap_ns / 10 > l.least_ns, 1) OR w.execution_id IN (SELECT execution_id FROM recorded) AS possible
	FROM waited w LEFT JOIN limits l ON l.model_id = w.model_id),
worst AS (SELECT app_id, model, top_culprit_app_id, top_culprit_ns, execution_id, began, gap_ns FROM judged WHERE sure ORDER BY gap_ns DESC, app_id, model LIMIT 1)
SELECT count(*) FILTER (WHERE j.sure) AS n_episodes, max(j.gap_ns) FILTER (WHERE j.sure) AS max_gap_ns,
	max(j.gap_ns) FILTER (WHERE j.possible AND NOT j.sure) AS possible_ns,
	CASE WHEN s.native THEN (
		SELECT max(ifnull(p.run_ended - coalesce(p.enqueued, p.decoded, p.request_read) - ifnull(p.cpu_ns, 0), 9223372036854775807))
		FROM picked p JOIN service_rules r ON r.policy = 'native' AND r.trace_id IS p.trace_id AND r.instance = (p.exec >> 52 & 4095)) END AS native_ns,
	(SELECT a.name FROM apps a WHERE a.id = w.app_id) AS app, w.model,
	(SELECT iif(w.top_culprit_app_id = w.app_id, 'work of its own app', a.name) FROM apps a WHERE a.id = w.top_culprit_app_id) AS holder,
	w.top_culprit_ns AS holder_ns, w.execution_id AS worst_id, w.began AS worst_began,
	(SELECT count(*) FROM recorded) AS n_recorded,
	@sight@
-- worst is named once, because SQLite prepares all that it rests on wherever it is named
FROM sight s LEFT JOIN judged j ON 1 LEFT JOIN worst w ON 1
