-- timeline_unknown: one row per interval that touches the asked span in which the holder of a lane is unknown: between two known holders, if events
-- were lost in between, or up to a second later if holders are recorded at their end.
@with@,
lost AS MATERIALIZED (
	SELECT l.trace_id, l.began - CASE WHEN EXISTS (SELECT 1 FROM execution x WHERE x.run_ended IS NOT NULL
		AND x.request_spun_ns IS NULL) THEN 1000000000 ELSE 0 END AS began, l.ended
	FROM loss l),
seen AS (
	SELECT trace_id, instance, lane, began, ended FROM lane_slice
	UNION ALL SELECT DISTINCT trace_id, instance, lane, -4611686018427387904, -4611686018427387904 FROM lane_slice),
gaps AS (
	SELECT trace_id, instance, lane, ended AS began,
		lead(began, 1, 4611686018427387904) OVER (PARTITION BY trace_id, instance, lane ORDER BY began) AS ended
	FROM seen)
SELECT g.trace_id * 4096 + g.instance AS service, g.lane, max(g.began, @from@) - @began@ AS began_at,
	min(g.ended, @to@) - @began@ AS ended_at
FROM gaps g WHERE g.began < @to@ AND g.ended > @from@ AND g.began < g.ended
	AND EXISTS (SELECT 1 FROM lost l WHERE l.trace_id = g.trace_id AND l.began <= g.ended AND l.ended >= g.began)
