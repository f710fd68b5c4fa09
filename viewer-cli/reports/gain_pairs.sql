-- gain_pairs: one row per app and model name with both warm executions of bursts and synchronous executions. Leaves out executions that are
-- incomplete or were not answered.
@with@
SELECT m.kind, a.name AS app, nullif(s.model, '') AS model
FROM (SELECT app_id, model FROM phase_stat WHERE phase = 'e2e' AND (path = 'sync' OR path = 'burst' AND NOT cold)
    GROUP BY app_id, model HAVING count(DISTINCT path) = 2) s
  JOIN (SELECT app_id, name, min(id) AS kind FROM model GROUP BY app_id, name) m ON m.app_id = s.app_id AND m.name = s.model
  LEFT JOIN apps a ON a.id = s.app_id
ORDER BY app, model, m.kind
