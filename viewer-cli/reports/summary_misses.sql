-- summary_misses: one row per primary cause of missed deadlines, the most frequent first: the app and model with most of these misses, and their main
-- culprit among those that are known, with its part of them. Leaves out all but the first three.
@with@,
named AS MATERIALIZED (
  SELECT p.cause, p.app_id, ifnull(m.name, '') AS model, p.culprit_app_id, sum(p.n) AS n, total(p.late_ns) AS late_ns, max(p.model_id) AS model_id,
    sum(p.persistent) AS n_persistent, sum(p.saved) AS n_saved, sum(p.unsure) AS n_unsure, sum(p.saved_without_app) AS n_without_app,
    sum(p.unsure_without_app) AS n_unsure_without_app,
    sum(p.n) FILTER (WHERE p.priority = 'low' AND p.culprit_priority IN ('medium', 'high') OR p.priority = 'medium' AND p.culprit_priority = 'high')
      AS n_outranked
  FROM primary_miss p LEFT JOIN model m ON m.id = p.model_id GROUP BY 1, 2, 3, 4),
victims AS (
  SELECT cause, app_id, model, sum(n) AS n, max(model_id) AS model_id, sum(n_persistent) AS n_persistent, sum(n_saved) AS n_saved,
    sum(n_unsure) AS n_unsure, ifnull(sum(n_outranked), 0) AS n_outranked, row_number() OVER (PARTITION BY cause ORDER BY sum(n) DESC, app_id, model) AS nth
  FROM named GROUP BY cause, app_id, model),
causes AS MATERIALIZED (
  SELECT c.cause, c.n, c.late_ns, c.share_percent, v.app_id, v.model, v.n AS n_victim, v.model_id, v.n_persistent, v.n_outranked, v.n_saved, v.n_unsure,
    (SELECT d.culprit_app_id FROM named d WHERE d.cause = c.cause AND d.app_id IS v.app_id AND d.model = v.model
      ORDER BY d.culprit_app_id IS NULL, d.n DESC, d.culprit_app_id LIMIT 1) AS culprit_app_id
  FROM (SELECT cause, sum(n) AS n, CAST(total(late_ns) AS INTEGER) AS late_ns, 100.0 * sum(n) / sum(sum(n)) OVER () AS share_percent
      FROM named GROUP BY cause ORDER BY n DESC, late_ns DESC, cause LIMIT 3) c
    LEFT JOIN victims v ON v.cause = c.cause AND v.nth = 1),
culprits AS (
  SELECT c.cause, d.name AS model, sum(p.executions_known) AS n,
    row_number() OVER (PARTITION BY c.cause ORDER BY sum(p.executions_known) DESC, d.name) AS nth
  FROM causes c JOIN primary_miss p ON p.cause = c.cause AND p.app_id IS c.app_id AND p.culprit_app_id = c.culprit_app_id
    LEFT JOIN model d ON d.id = p.culprit_model_id
  WHERE p.executions_known > 0 GROUP BY c.cause, d.name),
of_culprit AS (
  SELECT cause, app_id, model, culprit_app_id, sum(n) AS n, sum(n_without_app) AS n_without_app, sum(n_unsure_without_app) AS n_unsure_without_app
  FROM named GROUP BY 1, 2, 3, 4),
had AS (
  SELECT app_id, model, iif(@n_unknown@ + @n_unseen@ > 0, NULL, sum(deadlines)) AS n_deadlines, sum(n) FILTER (WHERE miss IS NOT NULL) AS n_missed FROM execution_count GROUP BY app_id, model)
SELECT e.cause, e.n, e.late_ns, iif(e.cause = 'too_big', e.n_persistent, NULL) AS n_persistent, a.name AS app,
  nullif(e.model, '') AS model, e.n_victim, h.n_missed, h.n_deadlines, (SELECT s.p50_ns FROM short_budget s WHERE s.cause = e.cause AND s.app_id IS e.app_id AND s.model = e.model) AS budget_ns,
  coalesce((SELECT max(t.p50_ns) FROM typical t WHERE t.model_id = e.model_id AND t.phase = 'run'),
    (SELECT d.estimate_ns FROM model d WHERE d.id = e.model_id)) AS run_ns,
  b.name AS culprit_app, nullif(c.model, '') AS culprit_model, e.share_percent,
  (SELECT max(u.p50_ns) FROM usual_budget u WHERE e.cause = 'submitted_late' AND u.model_id = e.model_id) AS usual_budget_ns,
  iif(e.cause = 'queued_behind', e.n_outranked, NULL) AS n_outranked, e.n_saved, e.n_unsure, w.n AS n_of_culprit, w.n_without_app, w.n_unsure_without_app,
  (SELECT o.n FROM of_culprit o WHERE o.cause = e.cause AND o.app_id IS e.app_id AND o.model = e.model AND o.culprit_app_id = e.culprit_app_id) AS n_by_culprit
FROM causes e LEFT JOIN culprits c ON c.cause = e.cause AND c.nth = 1 LEFT JOIN had h ON h.app_id IS e.app_id AND h.model = e.model
  LEFT JOIN of_culprit w ON w.cause = e.cause AND w.app_id IS e.app_id AND w.model = e.model AND w.culprit_app_id = e.culprit_app_id AND e.culprit_app_id <> e.app_id
  LEFT JOIN apps a ON a.id = e.app_id LEFT JOIN apps b ON b.id = e.culprit_app_id
ORDER BY e.n DESC, e.late_ns DESC, e.cause
