-- misses_without: one row per app, and per model of it, that is a culprit of other apps' misses: the result of a replay without it. model empty:
-- without the whole app. n_misses: misses with this culprit in the replayed sample; n_unsure: misses for which the replay cannot tell.
@with@
SELECT a.name AS without, coalesce(m.name, '') AS model, count(*) AS n_misses, sum(coalesce(w.met, 0)) AS n_met,
	sum(w.met IS NULL) AS n_unsure
FROM miss_without w CROSS JOIN picked p ON p.id = w.execution_id LEFT JOIN apps a ON a.id = w.app_id LEFT JOIN models m ON m.id = w.model_id
WHERE w.app_id IS NOT NULL
GROUP BY w.app_id, coalesce(m.name, '') ORDER BY n_met DESC, n_misses DESC, a.name, w.app_id, model
