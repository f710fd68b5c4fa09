-- verdict_fairness: one row: the facts of the fairness verdict (docs/figures.md): n_, _ns, and their upper bounds, most_. @apps@, @services@,
-- @streams@, @executions@: conditions on an app_id, on rows of service_rules, of stream t and of execution x, for the judged service. The apps of one
-- service share its lanes, and no app waits for another service's models. SQLite prepares a common table again wherever it is named: so most of them
-- are named once.
@with@,
asked_windows AS MATERIALIZED (
	SELECT l.window_began, l.app_id, a.trace_id, l.received_ns, l.lag_ns, l.most_ns
	FROM app_lag l LEFT JOIN app a ON a.id = l.app_id WHERE l.window_began >= @from@ AND l.window_began <= @to@ - 100000000 AND l.app_id @apps@),
lags AS (SELECT * FROM (@lags@) WHERE app_id @apps@),
furthest AS (SELECT app_id, max_lag_ns FROM lags ORDER BY max_lag_ns DESC, app_id LIMIT 1),
rules AS (SELECT ifnull(max(lanes), 1) AS lanes, ifnull(max(preempt IS NOT 'save'), 0) AS whole_runs FROM service_rules WHERE policy <> 'native' AND @services@),
-- models that executions refer to; those that were never answered have no phase_stat
referred AS MATERIALIZED (SELECT app_id, model, priority, sum(n) AS n FROM execution_count WHERE sides <> 'client' AND app_id @apps@ GROUP BY app_id, model, priority),
answered AS MATERIALIZED (SELECT app_id, model, priority, max(p50_ns) AS p50_ns, max(max_ns) AS max_ns FROM phase_stat WHERE phase = 'run' AND app_id @apps@ GROUP BY 1, 2, 3),
tried AS MATERIALIZED (SELECT DISTINCT x.model_id FROM stream t CROSS JOIN execution x ON x.stream_id = t.id WHERE t.path = 'prepare' AND @streams@),
steps AS MATERIALIZED (
	SELECT d.id, coalesce(d.step_ns, iif(d.prepared IS NULL, NULL, a.p50_ns)) AS ns, r.n, a.p50_ns IS NOT NULL OR EXISTS (
			SELECT 1 FROM execution x WHERE x.model_id = d.id AND x.dispatched IS NOT NULL) AS had_lane
	FROM rules w CROSS JOIN model d LEFT JOIN referred r ON r.app_id IS d.app_id AND r.model = d.name AND r.priority IS d.priority
		LEFT JOIN answered a ON a.app_id IS d.app_id AND a.model = d.name AND a.priority IS d.priority
	WHERE NOT w.whole_runs AND d.app_id @apps@ AND (r.n IS NOT NULL OR d.id IN (SELECT model_id FROM tried) OR EXISTS (SELECT 1 FROM loss))),
-- runs of executions that have no part in phase_stat: at least, and at most. The answer to the launch of a fenced execution ends nothing.
runs AS MATERIALIZED (
	SELECT max(ifnull(run_ns, had_ns)) AS ns, max(ifnull(run_ns, ifnull(max(ifnull(ended - began, 9223372036854775807), had_ns), 0))) AS most_ns FROM (
		SELECT x.run_ns, (SELECT sum(l.ended - l.began) FROM lane_slice l WHERE l.execution_id = x.id) AS had_ns,
			coalesce(x.dispatched, x.enqueued, x.decoded, x.request_read, x.submitted) AS began,
			coalesce(x.run_ended, x.signalled, iif(x.path <> 'fenced', coalesce(x.result_written, x.result_read, iif(x.status = 'NONE', x.returned, NULL)), NULL)) AS ended
		FROM rules w CROSS JOIN execution x WHERE w.whole_runs AND (NOT x.complete OR x.status IS NOT 'NONE') AND x.sides IS NOT 'client' AND @executions@)),
-- of models that had a lane, and of all
longest_steps AS MATERIALIZED (
	SELECT max(ns) FILTER (WHERE had_lane) AS had_ns, max(ns) AS ns, ifnull(max(ns IS NULL AND had_lane), 0) AS had_unknown,
		ifnull(max(ns IS NULL AND n IS NOT NULL), 0) AS unknown
	FROM steps),
-- the rules of a service that had executions, or the step of a model that had a lane
unknowns AS MATERIALIZED (
	SELECT EXISTS (SELECT 1 FROM stream t WHERE t.executions > 0 AND @streams@ AND NOT EXISTS (
			SELECT 1 FROM service_rules r WHERE r.trace_id IS t.trace_id AND r.instance = t.number >> 20)) AS rules,
		EXISTS (SELECT 1 FROM referred r WHERE NOT EXISTS (
			SELECT 1 FROM model d WHERE d.app_id IS r.app_id AND d.name = r.model AND d.priority IS r.priority)) AS model),
-- apps that had, or may have had, work: others, if an app without any recorded execution may have had some
working AS MATERIALIZED (
	SELECT app_id FROM stream t WHERE executions > 0 AND @streams@ UNION SELECT app_id FROM hidden_waits WHERE app_id @apps@),
-- apps that can have had work of which no event tells, where a loss hides no model: those that had a model
able AS MATERIALIZED (
	SELECT app_id FROM model m WHERE number IS NOT NULL AND @models@ UNION SELECT app_id FROM working WHERE app_id IS NOT NULL),
others AS MATERIALIZED (
	SELECT any_had AND (NOT are_able OR EXISTS (SELECT 1 FROM able WHERE app_id NOT IN (SELECT app_id FROM working WHERE app_id IS NOT NULL))) AS others, any_had, are_able, hidden
	FROM (
		-- a loss hides work, and so does a time in which a service did not tell of stops
		SELECT s.losses OR EXISTS (SELECT 1 FROM hidden_waits WHERE execution_id IS NULL AND app_id IS NULL) AS hidden,
			s.losses AND ((SELECT executions FROM hides) OR EXISTS (SELECT 1 FROM working WHERE app_id IS NULL)) AS any_had,
			NOT (SELECT work FROM strange) AND NOT EXISTS (SELECT 1 FROM execution_count WHERE app_id IS NULL)
				AND NOT EXISTS (SELECT 1 FROM hidden_waits WHERE app_id IS NULL AND execution_id IS NOT NULL)
				AND NOT EXISTS (SELECT 1 FROM able WHERE app_id IS NULL) AS are_able
		FROM sight s)),
stretch AS MATERIALIZED (
	SELECT iif(w.whole_runs, max(ifnull((SELECT max(max_ns) FROM answered), 0), ifnull(r.ns, 0)),
			max(ifnull(l.had_ns, 0), ifnull((SELECT max(s.stopped - s.asked) FROM preemption s @preempted@), 0))) AS ns,
		CASE WHEN NOT EXISTS (SELECT 1 FROM loss) THEN 0
			-- a preemption that was lost may have taken as long as nobody is known to have had the lane; so may a run
			ELSE max(ifnull(iif(w.whole_runs, r.most_ns, l.ns), 0), ifnull((SELECT max(t.ns) FROM (@unseen_stops@) t JOIN model d ON d.id = t.model_id WHERE d.app_id @apps@), 0)) END AS more_ns,
		u.rules OR NOT w.whole_runs AND (l.had_unknown OR l.unknown AND EXISTS (SELECT 1 FROM loss) OR u.model) AS unknown, u.rules AS no_rules, w.lanes
	FROM rules w CROSS JOIN runs r CROSS JOIN longest_steps l CROSS JOIN unknowns u)
SELECT
	(SELECT ifnull(max(n), 0) FROM (SELECT count(*) FILTER (WHERE received_ns > 0 OR NOT s.losses) AS n FROM asked_windows GROUP BY window_began, trace_id)) AS n_apps,
	(SELECT ifnull(max(n), 0) FROM (SELECT count(*) AS n FROM asked_windows WHERE NOT o.hidden GROUP BY window_began, trace_id
		UNION ALL SELECT count(*) FROM app WHERE o.hidden AND id @apps@ AND (o.any_had AND NOT o.are_able OR id IN (SELECT app_id FROM working) OR o.any_had AND id IN (SELECT app_id FROM able)) GROUP BY trace_id)) AS n_most_apps,
	t.lanes AS n_lanes, f.max_lag_ns,
	-- a wait that is hidden comes on top of the lag that an app had before: what app_share says at most accounts for both, windows do not
	max(ifnull((SELECT max(most_lag_ns) FROM lags), 0), iif(@windows@ AND max(ifnull(s.hole_ns, 0), ifnull(s.wait_ns, 0)) > 0,
		(SELECT ifnull(max(ifnull(most_lag_ns, 4611686018427387904)), 0) FROM app_share WHERE app_id @apps@), 0)) AS most_lag_ns,
	(SELECT a.name FROM apps a WHERE a.id = f.app_id) AS app,
	iif(t.no_rules, NULL, t.ns) AS stretch_ns, -- at least, also where S of a model is not known
	iif(t.unknown, NULL, max(t.ns, ifnull(t.more_ns, 0))) AS most_stretch_ns,
	-- an app that had something ready when the recording began was behind or ahead by an unknown time, until it had nothing left. Of the others without
	-- their beginning, the service told all
	(SELECT sum(n) FROM execution_count WHERE quality = 'head' AND sides <> 'client') > (SELECT ifnull(sum(value), 0) FROM meta WHERE key IN ('app_not_yet', 'app_no_more'))
	AND EXISTS (SELECT 1 FROM execution_count c WHERE c.quality = 'head' AND c.app_id @apps@ AND c.sides <> 'client' AND NOT EXISTS (
		SELECT 1 FROM (SELECT count(*) AS n, min(window_began) AS first FROM app_lag l WHERE l.app_id = c.app_id AND l.window_began < @from@)
		WHERE first IS NULL AND @from@ > @began@ + 100000000 OR n * 100000000 < @from@ - 100000000 - first)) AS begun,
	iif(o.are_able, 0, s.stranger_ns) AS stranger_ns, t.no_rules, o.others,
	@sight@
FROM sight s CROSS JOIN stretch t CROSS JOIN others o LEFT JOIN furthest f
