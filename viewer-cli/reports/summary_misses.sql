-- summary_misses: one row per cause that is the primary one of missed deadlines, the one of the most misses first: whose most of them were, and who
-- is to blame for most of those. Leaves out all but the first three.
@with@,
missed AS MATERIALIZED (
  SELECT c.execution_id AS id, c.cause, c.late_ns, x.app_id, x.model_id, c.culprit_app_id, c.culprit_execution_id
  FROM miss_cause c CROSS JOIN involved x ON x.execution_id = c.execution_id WHERE c.is_primary),
each AS MATERIALIZED (
  SELECT cause, app_id, model_id, culprit_app_id, count(*) AS n, total(late_ns) AS late_ns FROM missed GROUP BY cause, app_id, model_id, culprit_app_id),
named AS MATERIALIZED (
  SELECT e.cause, e.app_id, ifnull(m.name, '') AS model, e.culprit_app_id, sum(e.n) AS n, max(e.model_id) AS model_id
  FROM each e LEFT JOIN model m ON m.id = e.model_id GROUP BY 1, 2, 3, 4),
victims AS (
  SELECT cause, app_id, model, sum(n) AS n, max(model_id) AS model_id, row_number() OVER (PARTITION BY cause ORDER BY sum(n) DESC, app_id, model) AS nth
  FROM named GROUP BY cause, app_id, model),
causes AS MATERIALIZED (
  SELECT c.cause, c.n, c.late_ns, c.share_percent, v.app_id, v.model, v.n AS n_victim, v.model_id,
    (SELECT d.culprit_app_id FROM named d WHERE d.cause = c.cause AND d.app_id IS v.app_id AND d.model = v.model
      ORDER BY d.n DESC, d.culprit_app_id LIMIT 1) AS culprit_app_id
  FROM (SELECT cause, sum(n) AS n, CAST(total(late_ns) AS INTEGER) AS late_ns, 100.0 * sum(n) / sum(sum(n)) OVER () AS share_percent
      FROM each GROUP BY cause ORDER BY n DESC, late_ns DESC, cause LIMIT 3) c
    LEFT JOIN victims v ON v.cause = c.cause AND v.nth = 1),
culprits AS ( -- the unary + says that no index is worth its while
  SELECT c.cause, d.name AS model, count(*) AS n, row_number() OVER (PARTITION BY c.cause ORDER BY count(*) DESC, d.name) AS nth
  FROM causes c CROSS JOIN missed m ON +m.cause = c.cause AND +m.app_id IS c.app_id AND +m.culprit_app_id = c.culprit_app_id
    CROSS JOIN involved x ON x.execution_id = m.culprit_execution_id LEFT JOIN model d ON d.id = x.model_id
  WHERE c.culprit_app_id IS NOT NULL GROUP BY c.cause, d.name),
short AS ( -- of a budget
  SELECT c.cause, percentile(x.deadline - coalesce(x.submitted, x.request_read), 50) AS budget_ns, sum(x.status = 'MISSED_DEADLINE_PERSISTENT') AS n_persistent
  FROM causes c CROSS JOIN missed m ON c.cause IN ('too_big', 'too_tight', 'submitted_late') AND +m.cause = c.cause AND +m.app_id IS c.app_id
    CROSS JOIN execution x ON x.id = m.id
  WHERE ifnull((SELECT d.name FROM model d WHERE d.id = m.model_id), '') = c.model GROUP BY c.cause),
outranked AS (
  SELECT count(*) AS n FROM causes c CROSS JOIN missed m ON c.cause = 'queued_behind' AND +m.cause = c.cause AND +m.app_id IS c.app_id
    CROSS JOIN involved x ON x.execution_id = m.id CROSS JOIN involved h ON h.execution_id = m.culprit_execution_id
  WHERE ifnull((SELECT d.name FROM model d WHERE d.id = m.model_id), '') = c.model
    AND (x.priority = 'low' AND h.priority IN ('medium', 'high') OR x.priority = 'medium' AND h.priority = 'high')),
had AS (
  SELECT app_id, model, iif(@n_unknown@ > 0, NULL, sum(deadlines)) AS n_deadlines, sum(n) FILTER (WHERE miss IS NOT NULL) AS n_missed FROM execution_count GROUP BY app_id, model)
SELECT e.cause, e.n, e.late_ns, iif(e.cause = 'too_big', (SELECT n_persistent FROM short s WHERE s.cause = e.cause), NULL) AS n_persistent, a.name AS app,
  nullif(e.model, '') AS model, e.n_victim, h.n_missed, h.n_deadlines, (SELECT budget_ns FROM short s WHERE s.cause = e.cause) AS budget_ns,
  coalesce((SELECT max(t.p50_ns) FROM typical t WHERE t.model_id = e.model_id AND t.phase = 'run'),
    (SELECT d.estimate_ns FROM model d WHERE d.id = e.model_id)) AS run_ns,
  b.name AS culprit_app, nullif(c.model, '') AS culprit_model, e.share_percent,
  (SELECT max(u.p50_ns) FROM usual_budget u WHERE e.cause = 'submitted_late' AND u.model_id = e.model_id) AS usual_budget_ns,
  iif(e.cause = 'queued_behind', (SELECT n FROM outranked), NULL) AS n_outranked
FROM causes e LEFT JOIN culprits c ON c.cause = e.cause AND c.nth = 1 LEFT JOIN had h ON h.app_id IS e.app_id AND h.model = e.model
  LEFT JOIN apps a ON a.id = e.app_id LEFT JOIN apps b ON b.id = e.culprit_app_id
ORDER BY e.n DESC, e.late_ns DESC, e.cause
