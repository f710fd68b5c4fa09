-- priority_inversions: one row per pair of models of an app of which the more urgent waited while the other held a lane: how often, from when
-- on, how long, and worst_ns and bound_ns of the inversion furthest above its bound, as in the verdict (beside a loss, the most that the bound can have been). Leaves out inversions no longer than the holder's step_ns, and those while the app was on probation. A
-- row without a holder: inversions that the import added up, because there are too many.
@with@, stretches AS (@stretches@), unseen_stops AS MATERIALIZED (@unseen_stops@), probations AS MATERIALIZED (@probations@),
-- each execution once, because it may be in many inversions; kind: a number for each name and priority, because numbers sort in half the time of texts
holders AS MATERIALIZED (
	SELECT *, iif(name IS NULL AND priority IS NULL, NULL, dense_rank() OVER (ORDER BY name, priority)) AS kind
	FROM (SELECT h.execution_id, (SELECT m.name FROM models m WHERE m.id = h.model_id) AS name, h.priority,
		max(coalesce(s.stretch_ns, 0), coalesce(t.ns, 0)) AS most_ns, @off_core@ AS off_core_ns
		FROM involved h LEFT JOIN stretches s ON s.model_id = h.model_id LEFT JOIN unseen_stops t ON t.model_id = h.model_id)),
victims AS MATERIALIZED (
	SELECT *, dense_rank() OVER (ORDER BY app_id, name, priority) AS kind
	FROM (SELECT v.execution_id, v.app_id, (SELECT a.name FROM apps a WHERE a.id = v.app_id) AS app, (SELECT n.name FROM models n WHERE n.id = v.model_id) AS name, v.priority
		FROM involved v)),
each AS (
	SELECT i.victim_id, i.began, i.dur_ns, v.app_id, v.app, v.name AS victim, v.priority AS victim_priority, h.name AS holder, h.priority AS holder_priority, v.kind AS victim_kind, h.kind AS holder_kind,
		ifnull(h.most_ns, 0) AS most_ns, ifnull(h.off_core_ns, 0) AS off_core_ns
	FROM inversion i CROSS JOIN victims v ON v.execution_id = i.victim_id @only_victims@
		LEFT JOIN holders h ON h.execution_id = i.holder_id
	WHERE NOT @inverted_on_probation@),
bounded AS (SELECT *, @bound@ + @allowed@ + @slack@ AS bound_ns FROM each)
SELECT app, holder, holder_priority, victim, victim_priority, n_inversions, n_above, max_ns, worst_ns, bound_ns, held_ns, p50_ns, n_victims, first_at, last_at
FROM ( -- SQLite takes bare columns from the row of the only max()
	SELECT app, holder, holder_priority, victim, victim_priority, count(*) AS n_inversions, sum(dur_ns > bound_ns) AS n_above,
		percentile(dur_ns, 100) AS max_ns, dur_ns AS worst_ns, bound_ns, max(dur_ns - bound_ns) AS above_ns, sum(dur_ns) AS held_ns,
		percentile(dur_ns, 50) AS p50_ns, count(DISTINCT victim_id) AS n_victims,
		percentile(began - @began@, 0) AS first_at, percentile(began - @began@, 100) AS last_at
	FROM bounded GROUP BY victim_kind, holder_kind
	UNION ALL
	SELECT a.name, NULL, NULL, n.name, v.priority, sum(i.n), NULL, max(i.longest_ns), NULL, NULL, NULL, sum(i.held_ns), NULL, count(DISTINCT i.victim_id), min(i.began) - @began@,
		max(i.began) - @began@
	FROM lesser_inversion i CROSS JOIN involved v ON v.execution_id = i.victim_id @only_victims@
		LEFT JOIN apps a ON a.id = v.app_id
		LEFT JOIN models n ON n.id = v.model_id
	WHERE NOT @lesser_on_probation@
	GROUP BY v.app_id, n.name, v.priority)
ORDER BY held_ns DESC, app, holder, holder_priority, victim, victim_priority
