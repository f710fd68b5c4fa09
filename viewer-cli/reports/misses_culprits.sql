-- misses_culprits: one row per cause and app and model that caused misses: misses, and time lost. Leaves out causes without a culprit.
@with@, @stats@
SELECT a.name AS culprit, CASE s.culprit_model WHEN '' THEN '?' ELSE s.culprit_model END AS model, s.cause, sum(s.misses) AS n_misses,
	sum(s.lost_ns) AS lost_ns, s.culprit_priority AS priority, count(DISTINCT s.app_id) AS n_victims
FROM stats s LEFT JOIN apps a ON a.id = s.culprit_app_id
GROUP BY s.culprit_app_id, s.culprit_model, s.culprit_priority, s.cause
ORDER BY n_misses DESC, lost_ns DESC, culprit, model, priority, s.cause
