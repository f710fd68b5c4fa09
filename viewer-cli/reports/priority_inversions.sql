-- priority_inversions: one row per pair of models of one app of which the more urgent waited while the other had a lane.
-- How often, how long, and how long that may be. Leaves out what was not longer than the holder's step_ns.
@with@, stretches AS (@stretches@),
each AS (
	SELECT i.*, v.app_id, a.name AS app, n.name AS victim, v.priority AS victim_priority, m.name AS holder, h.priority AS holder_priority,
		s.stretch_ns, @off_core@ AS off_core_ns
	FROM inversion i CROSS JOIN involved v ON v.execution_id = i.victim_id @only_victims@
		LEFT JOIN apps a ON a.id = v.app_id
		LEFT JOIN models n ON n.id = v.model_id
		LEFT JOIN involved h ON h.execution_id = i.holder_id
		LEFT JOIN models m ON m.id = h.model_id
		LEFT JOIN stretches s ON s.model_id = h.model_id)
SELECT app, holder, holder_priority, victim, victim_priority, count(*) AS n_inversions, sum(dur_ns > @bound@ + @allowed@) AS n_above,
	max(dur_ns) AS max_ns, @bound@ AS bound_ns, sum(dur_ns) AS held_ns, percentile(dur_ns, 50) AS p50_ns, count(DISTINCT victim_id) AS n_victims
FROM each GROUP BY app_id, holder, holder_priority, victim, victim_priority
ORDER BY held_ns DESC, app, holder, holder_priority, victim, victim_priority
