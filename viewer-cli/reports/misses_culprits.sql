-- misses_culprits: one row per app and model that made deadlines be missed, and cause: misses, time it took.
-- Leaves out causes that are nobody's.
@with@, @stats@
SELECT a.name AS culprit, CASE s.culprit_model WHEN '' THEN '?' ELSE s.culprit_model END AS model, s.cause, sum(s.misses) AS n_misses,
	sum(s.lost_ns) AS lost_ns, s.culprit_priority AS priority, count(DISTINCT s.app_id) AS n_victims
FROM stats s LEFT JOIN apps a ON a.id = s.culprit_app_id
GROUP BY s.culprit_app_id, s.culprit_model, s.culprit_priority, s.cause
ORDER BY n_misses DESC, lost_ns DESC, culprit, model, priority, s.cause
