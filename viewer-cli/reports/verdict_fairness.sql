-- verdict_fairness: one row: what the fairness verdict is made of (docs/figures.md): n_, _ns and their largest possible values, most_.
@with@, @hidden@,
asked_windows AS MATERIALIZED (
	SELECT l.window_began, l.app_id, a.trace_id, l.received_ns, l.lag_ns, l.most_ns
	FROM app_lag l LEFT JOIN app a ON a.id = l.app_id WHERE l.window_began >= @from@ AND l.window_began <= @to@ - 100000000),
lags AS (@lags@),
furthest AS (SELECT app_id, max_lag_ns FROM lags ORDER BY max_lag_ns DESC, app_id LIMIT 1),
rules AS (SELECT ifnull(max(lanes), 1) AS lanes, ifnull(max(preempt IS NOT 'save'), 0) AS whole_runs FROM service_rules WHERE policy <> 'native'),
-- models that executions refer to; those that were never answered have no phase_stat
referred AS MATERIALIZED (SELECT app_id, model, priority, sum(n) AS n FROM execution_count WHERE sides <> 'client' GROUP BY app_id, model, priority),
answered AS MATERIALIZED (SELECT app_id, model, priority, max(p50_ns) AS p50_ns, max(max_ns) AS max_ns FROM phase_stat WHERE phase = 'run' GROUP BY 1, 2, 3),
steps AS MATERIALIZED (
	SELECT d.id, coalesce(d.step_ns, iif(d.prepared IS NULL, NULL, a.p50_ns)) AS ns, r.n, a.p50_ns IS NOT NULL OR EXISTS (
			SELECT 1 FROM execution x WHERE x.model_id = d.id AND x.dispatched IS NOT NULL) AS had_lane
	FROM model d LEFT JOIN referred r ON r.app_id IS d.app_id AND r.model = d.name AND r.priority IS d.priority
		LEFT JOIN answered a ON a.app_id IS d.app_id AND a.model = d.name AND a.priority IS d.priority
	WHERE r.n IS NOT NULL OR (SELECT losses FROM sight)),
-- runs of executions that have no part in phase_stat: at least, and at most
runs AS MATERIALIZED (
	SELECT max(ifnull(run_ns, had_ns)) AS ns, max(ifnull(run_ns, ifnull(max(ifnull(ended - began, 9223372036854775807), had_ns), 0))) AS most_ns FROM (
		SELECT x.run_ns, (SELECT sum(l.ended - l.began) FROM lane_slice l WHERE l.execution_id = x.id) AS had_ns,
			coalesce(x.dispatched, x.enqueued, x.decoded, x.request_read, x.submitted) AS began,
			coalesce(x.run_ended, x.result_written, x.signalled, x.result_read, x.returned) AS ended
		FROM execution x WHERE (SELECT whole_runs FROM rules) AND (NOT x.complete OR x.status IS NOT 'NONE') AND x.sides IS NOT 'client')),
stretch AS MATERIALIZED (
	SELECT CASE WHEN (SELECT whole_runs FROM rules) THEN max(ifnull((SELECT max(max_ns) FROM answered), 0), ifnull((SELECT ns FROM runs), 0))
		ELSE max(ifnull((SELECT max(ns) FROM steps WHERE had_lane), 0), ifnull((SELECT max(stopped - asked) FROM preemption), 0)) END AS ns,
	CASE WHEN NOT (SELECT losses FROM sight) THEN 0 WHEN (SELECT whole_runs FROM rules) THEN (SELECT most_ns FROM runs)
		ELSE (SELECT max(ns) FROM steps) END AS more_ns,
	-- the rules of a service that had executions, or the step of a model that had a lane
	EXISTS (SELECT 1 FROM stream t WHERE t.executions > 0 AND NOT EXISTS (
			SELECT 1 FROM service_rules r WHERE r.trace_id IS t.trace_id AND r.instance = t.number >> 20))
		OR NOT (SELECT whole_runs FROM rules) AND (EXISTS (SELECT 1 FROM steps WHERE ns IS NULL AND (had_lane OR n IS NOT NULL AND (SELECT losses FROM sight)))
			OR EXISTS (SELECT 1 FROM referred r WHERE NOT EXISTS (
				SELECT 1 FROM model d WHERE d.app_id IS r.app_id AND d.name = r.model AND d.priority IS r.priority))) AS unknown)
SELECT
	(SELECT ifnull(max(n), 0) FROM (SELECT count(*) FILTER (WHERE received_ns > 0 OR NOT s.losses) AS n FROM asked_windows GROUP BY window_began, trace_id)) AS n_apps,
	(SELECT ifnull(max(n), 0) FROM (SELECT count(*) AS n FROM asked_windows WHERE NOT s.losses GROUP BY window_began, trace_id
		UNION ALL SELECT count(*) FROM app WHERE s.losses GROUP BY trace_id)) AS n_most_apps,
	(SELECT lanes FROM rules) AS n_lanes,
	(SELECT max_lag_ns FROM furthest) AS max_lag_ns, (SELECT max(most_lag_ns) FROM lags) AS most_lag_ns,
	(SELECT a.name FROM furthest f JOIN apps a ON a.id = f.app_id) AS app,
	iif((SELECT unknown FROM stretch), NULL, (SELECT ns FROM stretch)) AS stretch_ns,
	iif((SELECT unknown FROM stretch), NULL, (SELECT max(ns, ifnull(more_ns, 0)) FROM stretch)) AS most_stretch_ns,
	-- an app that had something ready when the recording began was behind or ahead by an unknown time, until it had nothing left
	EXISTS (SELECT 1 FROM execution_count c WHERE c.quality = 'head' AND c.sides <> 'client' AND NOT EXISTS (
		SELECT 1 FROM (SELECT count(*) AS n, min(window_began) AS first FROM app_lag l WHERE l.app_id = c.app_id AND l.window_began < @from@)
		WHERE first IS NULL AND @from@ > @began@ + 100000000 OR n * 100000000 < @from@ - 100000000 - first)) AS begun,
	@sight@
FROM sight s
