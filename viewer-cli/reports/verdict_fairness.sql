-- verdict_fairness: one row: what the fairness verdict is made of (docs/figures.md).
@with@, windows AS (
	SELECT l.window_began, l.app_id, a.trace_id, l.lag_ns
	FROM app_lag l LEFT JOIN app a ON a.id = l.app_id WHERE l.window_began >= @from@ AND l.window_began <= @to@ - 100000000),
most AS (@most@),
rules AS (
	SELECT coalesce(max(lanes), 1) AS lanes, coalesce(max(preempt IS NOT 'save'), 0) AS whole_runs FROM service_rules),
ran AS (SELECT app_id, model, priority, max(p50_ns) AS p50_ns FROM phase_stat WHERE phase = 'run' GROUP BY app_id, model, priority)
SELECT
	(SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM windows GROUP BY window_began, trace_id)) AS n_apps,
	(SELECT lanes FROM rules) AS n_lanes,
	(SELECT max_lag_ns FROM most) AS max_lag_ns,
	(SELECT a.name FROM most m JOIN apps a ON a.id = m.app_id) AS app,
	CASE WHEN (SELECT whole_runs FROM rules) THEN (SELECT max(max_ns) FROM phase_stat WHERE phase = 'run')
	ELSE max(
		coalesce((SELECT max(coalesce(d.step_ns, r.p50_ns)) FROM ran r JOIN model d
			ON d.app_id IS r.app_id AND d.name = r.model AND d.priority IS r.priority), 0),
		coalesce((SELECT max(stopped - asked) FROM preemption), 0))
	END AS stretch_ns,
	EXISTS(SELECT 1 FROM loss WHERE ended >= @from@ AND began < @to@) AS losses
