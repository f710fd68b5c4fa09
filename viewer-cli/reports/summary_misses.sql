-- summary_misses: the missed deadlines as findings: one row per victim (an app, and its model if only one
-- is concerned) of a finding, the most frequent finding first. All misses whose
-- primary culprit is one other app are one finding, whatever the cause, with those of the same victims that waited for an app that is not known; those
-- that waited for work of their own app are one per app and cause; all others, one per cause. Leaves out all but the first three findings, of these the second
-- and the third if they have less than a tenth of all misses (the last three columns add up what is left out, the same in each row), and of each all but the
-- four victims with the most.
@with@,
only_two AS MATERIALIZED (SELECT min(id) AS a, max(id) AS b FROM app WHERE NOT EXISTS (SELECT 1 FROM loss) HAVING count(*) = 2), -- another app is the other
misses AS MATERIALIZED (
  SELECT p.*, ifnull(m.name, '') AS model,
    CASE WHEN p.culprit_app_id <> p.app_id THEN p.culprit_app_id
      WHEN p.culprit_app_id IS NULL AND p.cause IN ('hogged', 'crowded_out') THEN (SELECT iif(p.app_id = a, b, a) FROM only_two WHERE p.app_id IN (a, b)) END AS taker_id,
    p.culprit_app_id IS NULL AND p.cause IN ('hogged', 'crowded_out') AS unnamed,
    p.priority = 'low' AND p.culprit_priority IN ('medium', 'high') OR p.priority = 'medium' AND p.culprit_priority = 'high' AS outranked
  FROM primary_miss p LEFT JOIN model m ON m.id = p.model_id),
takers AS MATERIALIZED (
  SELECT app_id, taker_id, row_number() OVER (PARTITION BY app_id ORDER BY sum(n) DESC, taker_id) AS place FROM misses WHERE taker_id IS NOT NULL GROUP BY 1, 2),
blamed AS MATERIALIZED (
  SELECT m.*, coalesce(m.taker_id, t.taker_id) AS by_app_id, iif(coalesce(m.taker_id, t.taker_id) IS NULL, m.cause, '') AS of_cause,
    iif(m.cause IN ('queued_behind', 'inversion') AND m.taker_id IS NULL, m.app_id, NULL) AS of_app_id
  FROM misses m LEFT JOIN takers t ON m.unnamed AND t.place = 1 AND t.app_id = m.app_id),
every AS MATERIALIZED (
  SELECT by_app_id, of_cause, of_app_id, sum(n) AS n, CAST(total(late_ns) AS INTEGER) AS late_ns, 100.0 * sum(n) / sum(sum(n)) OVER () AS share_percent,
    min(first) AS first, max(last) AS last, count(DISTINCT cause) AS n_causes, ifnull(sum(n) FILTER (WHERE cause = 'hogged'), 0) AS n_hogged,
    sum(persistent) AS n_persistent, sum(saved) AS n_saved, sum(unsure) AS n_unsure, sum(saved_without_app) AS n_without_app,
    sum(unsure_without_app) AS n_unsure_without_app, ifnull(sum(n) FILTER (WHERE outranked), 0) AS n_outranked,
    ifnull(sum(n) FILTER (WHERE taker_id IS NOT NULL), 0) AS n_by_app,
    row_number() OVER (ORDER BY sum(n) DESC, total(late_ns) DESC, of_cause, by_app_id, of_app_id) AS nth
  FROM blamed GROUP BY 1, 2, 3),
ranked AS MATERIALIZED (SELECT * FROM every WHERE nth = 1 OR nth <= 3 AND share_percent >= 10),
rest AS MATERIALIZED (
  SELECT b.cause, sum(b.n) AS n FROM blamed b
  WHERE NOT EXISTS (SELECT 1 FROM ranked r WHERE b.by_app_id IS r.by_app_id AND b.of_cause = r.of_cause AND b.of_app_id IS r.of_app_id) GROUP BY 1),
found AS MATERIALIZED (
  SELECT r.nth, b.* FROM ranked r JOIN blamed b ON b.by_app_id IS r.by_app_id AND b.of_cause = r.of_cause AND b.of_app_id IS r.of_app_id),
causes AS (SELECT nth, cause, row_number() OVER (PARTITION BY nth ORDER BY sum(n) DESC, total(late_ns) DESC, cause) AS place FROM found GROUP BY nth, cause),
culprits AS (
  SELECT f.nth, f.culprit_app_id, d.name AS model, sum(f.executions_known) AS n,
    row_number() OVER (PARTITION BY f.nth ORDER BY sum(f.executions_known) DESC, f.culprit_app_id, d.name) AS place
  FROM found f LEFT JOIN model d ON d.id = f.culprit_model_id WHERE f.executions_known > 0 GROUP BY 1, 2, 3),
victims AS MATERIALIZED (
  SELECT nth, app_id, iif(count(DISTINCT model) = 1, max(model), NULL) AS model, sum(n) AS n, max(model_id) AS model_id, count(*) OVER (PARTITION BY nth) AS n_victims,
    row_number() OVER (PARTITION BY nth ORDER BY sum(n) DESC, app_id) AS place
  FROM found GROUP BY nth, app_id),
had AS (
  SELECT v.nth, v.app_id, iif(@n_unknown@ + @n_unseen@ > 0, NULL, sum(c.deadlines)) AS n_deadlines, sum(c.n) FILTER (WHERE c.miss IS NOT NULL) AS n_missed
  FROM victims v JOIN execution_count c ON c.app_id IS v.app_id AND c.model = ifnull(v.model, c.model) WHERE v.place <= 4 GROUP BY 1, 2)
SELECT r.nth, s.cause, r.n, r.late_ns, r.first - @began@ AS first_at, r.last - @began@ AS last_at, r.n_causes, r.n_hogged,
  ifnull(b.name, k.name) AS culprit_app, nullif(c.model, '') AS culprit_model, c.n AS n_by_model, r.by_app_id IS NOT NULL AS by_other, r.n_by_app,
  r.n_persistent, r.n_outranked, r.n_saved, r.n_unsure, r.n_without_app, r.n_unsure_without_app,
  a.name AS app, nullif(v.model, '') AS model, v.n AS n_victim, h.n_missed, h.n_deadlines, v.n_victims,
  (SELECT t.p50_ns FROM short_budget t WHERE t.cause = s.cause AND t.app_id IS v.app_id AND t.model = v.model) AS budget_ns,
  coalesce((SELECT max(t.p50_ns) FROM typical t WHERE t.model_id = v.model_id AND t.phase = 'run'),
    (SELECT d.estimate_ns FROM model d WHERE d.id = v.model_id)) AS run_ns,
  (SELECT max(u.p50_ns) FROM usual_budget u WHERE s.cause = 'submitted_late' AND u.model_id = v.model_id) AS usual_budget_ns,
  (SELECT ifnull(sum(n), 0) FROM rest) AS n_rest, (SELECT count(*) FROM rest) AS n_rest_causes,
  (SELECT group_concat(cause || ' ' || replace(printf('%,d', n), ',', ' '), ', ') FROM (SELECT * FROM rest ORDER BY n DESC, cause)) AS rest
FROM ranked r JOIN causes s ON s.nth = r.nth AND s.place = 1 JOIN victims v ON v.nth = r.nth AND v.place <= 4
  LEFT JOIN culprits c ON c.nth = r.nth AND c.place = 1 LEFT JOIN had h ON h.nth = v.nth AND h.app_id IS v.app_id
  LEFT JOIN apps a ON a.id = v.app_id LEFT JOIN apps b ON b.id = r.by_app_id LEFT JOIN apps k ON k.id = c.culprit_app_id
ORDER BY r.nth, v.place
