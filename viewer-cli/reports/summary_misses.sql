-- summary_misses: the missed deadlines by whose doing they were (miss_doers.sql), as findings: one row per victim (an app, and its
-- model if only one is concerned) of a finding, nth 1 being the largest. What one other app did is one finding, and so is what the machine
-- did, whatever the causes; what an app did to itself is one per app and cause. Those behind the first with less than a tenth of all
-- misses are in nth 0: one row each of the largest, and one, others, for the remaining ones; nth -1 is what none of the doers alone decided (several), and what cannot be told (unknown).
@with@, @doers@,
sums AS MATERIALIZED (
  SELECT kind, by_app_id, of_app_id, sum(n) AS n, sum(iif(proved, n, 0)) AS n_proved, CAST(total(late_ns) AS INTEGER) AS late_ns, min(first) AS first, max(last) AS last,
    sum(persistent) AS n_persistent, sum(iif(followed, n, 0)) AS n_followed, sum(iif(blamed = 'stood', n, 0)) AS n_stood, sum(iif(blamed = 'waited', n, 0)) AS n_waited, sum(iif(blamed = 'held', n, 0)) AS n_held,
    ifnull(sum(n) FILTER (WHERE cause = 'hogged'), 0) AS n_hogged,
    ifnull(sum(n) FILTER (WHERE priority = 'low' AND blamed_priority IN ('medium', 'high') OR priority = 'medium' AND blamed_priority = 'high'), 0) AS n_outranked,
    sum(sum(n)) OVER () AS n_all
  FROM keyed s GROUP BY 1, 2, 3),
ordered AS (
  SELECT s.*, row_number() OVER (PARTITION BY s.kind IN ('several', 'unknown') ORDER BY s.n DESC, s.n_proved DESC, s.late_ns DESC, s.kind, s.by_app_id, s.of_app_id) AS place FROM sums s),
placed AS MATERIALIZED (
  SELECT *, CASE WHEN kind IN ('several', 'unknown') THEN -1 WHEN place = 1 OR 10 * n >= n_all THEN place ELSE 0 END AS nth FROM ordered),
last AS MATERIALIZED (SELECT count(*) FILTER (WHERE nth > 0) + @n_named@ AS place FROM placed),
shown AS MATERIALIZED (
  SELECT * FROM placed WHERE nth <> 0 OR place <= (SELECT l.place FROM last l)
  UNION ALL SELECT 'others', NULL, NULL, sum(n), sum(n_proved), sum(late_ns), min(first), max(last), sum(n_persistent), sum(n_followed), sum(n_stood), sum(n_waited), sum(n_held), sum(n_hogged), sum(n_outranked), max(n), max(place), 0
  FROM placed WHERE nth = 0 AND place > (SELECT l.place FROM last l) HAVING count(*) > 0),
found AS MATERIALIZED (
  SELECT p.nth, k.* FROM placed p JOIN keyed k ON k.kind = p.kind AND k.by_app_id IS p.by_app_id AND k.of_app_id IS p.of_app_id WHERE p.nth <> 0),
-- For the machine, waits for a run that had no cpu, and late starts while all stood still, are told of by themselves.
causes AS (
  SELECT nth, kind, group_concat(cause || ' ' || n, ',') FILTER (WHERE plain) AS causes, sum(n) FILTER (WHERE plain) AS n_caused,
    (SELECT f.cause FROM found f WHERE f.nth = c.nth AND f.kind = 'app' AND f.cause IN ('crowded_out', 'hogged', 'preempted', 'redo') GROUP BY 1 ORDER BY sum(f.n) DESC, 1 LIMIT 1) AS most_by
  FROM (SELECT nth, kind, cause, blamed NOT IN ('stood', 'waited', 'held') AS plain, sum(n) AS n FROM found GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 5 DESC, 3) c GROUP BY nth, kind),
-- Of misses without a doer: which app was waited for, or what else took the largest part of the delay.
mostly AS (
  SELECT kind, group_concat(doer || ' ' || replace(printf('%,d', n), ',', ' '), ', ') AS mostly FROM (
    SELECT k.kind, CASE WHEN k.of_kind = 'machine' THEN 'the machine' WHEN k.of_kind = 'apps' THEN 'waiting for several other apps' ELSE 'waiting for ' || a.name END AS doer, sum(k.n) AS n
    FROM keyed k LEFT JOIN apps a ON ifnull(k.of_kind, 'app') = 'app' AND a.id = k.blamed_app_id
    WHERE k.kind IN ('several', 'unknown') AND (k.of_kind IN ('machine', 'apps') OR a.name IS NOT NULL) GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2) GROUP BY kind),
nameless AS (
  SELECT kind, group_concat(cause || ' ' || n, ',') AS causes FROM (
    SELECT k.kind, k.cause, sum(k.n) AS n FROM keyed k LEFT JOIN apps a ON ifnull(k.of_kind, 'app') = 'app' AND a.id = k.blamed_app_id
    WHERE k.kind IN ('several', 'unknown') AND k.of_kind IS NOT 'machine' AND k.of_kind IS NOT 'apps' AND a.name IS NULL GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2) GROUP BY kind),
holders AS (
  SELECT f.nth, d.name AS model, sum(f.n) AS n, row_number() OVER (PARTITION BY f.nth ORDER BY sum(f.n) DESC, d.name) AS place
  FROM found f JOIN model d ON d.id = f.blamed_model_id WHERE f.nth > 0 AND f.kind IN ('app', 'queued_behind', 'inversion') GROUP BY 1, 2),
victims AS MATERIALIZED (
  SELECT nth, app_id, iif(count(DISTINCT model) = 1, max(model), NULL) AS model, sum(n) AS n, max(model_id) AS model_id, count(*) OVER (PARTITION BY nth) AS n_victims,
    row_number() OVER (PARTITION BY nth ORDER BY sum(n) DESC, app_id) AS place
  FROM found WHERE nth > 0 GROUP BY nth, app_id),
had AS (
  SELECT v.nth, v.app_id, iif(@n_unknown@ + @n_unseen@ > 0, NULL, sum(c.deadlines)) AS n_deadlines
  FROM victims v JOIN execution_count c ON c.app_id IS v.app_id AND c.model = ifnull(v.model, c.model) WHERE v.place <= 4 GROUP BY 1, 2)
SELECT r.nth, r.kind, r.n, r.n_proved, r.late_ns, r.first - @began@ AS first_at, r.last - @began@ AS last_at, r.n_persistent, r.n_followed, r.n_stood, r.n_waited, r.n_held, r.n_hogged, r.n_outranked,
  @doer@ AS doer, r.n_all, c.causes, w.mostly, e.causes AS nameless, c.most_by, b.name AS by_app, nullif(m.model, '') AS by_model, m.n AS n_by_model,
  a.name AS app, nullif(v.model, '') AS model, v.n AS n_victim, h.n_deadlines, v.n_victims,
  (SELECT t.p50_ns FROM short_budget t WHERE t.cause = iif(r.kind = 'thread', 'submitted_late', r.kind) AND t.app_id IS v.app_id AND t.model = v.model) AS budget_ns,
  coalesce((SELECT max(t.p50_ns) FROM typical t WHERE t.model_id = v.model_id AND t.phase = 'run' AND t.runs > 0),
    (SELECT d.estimate_ns FROM model d WHERE d.id = v.model_id)) AS run_ns,
  (SELECT max(u.p50_ns) FROM usual_budget u WHERE r.kind IN ('submitted_late', 'thread') AND u.model_id = v.model_id) AS usual_budget_ns,
  NOT EXISTS (SELECT 1 FROM typical t WHERE t.model_id = v.model_id AND t.phase = 'run' AND t.runs > 0) AS run_estimated,
  (SELECT count(DISTINCT g.model) FROM execution_count g WHERE g.app_id = b.id) AS n_models_of_by_app
FROM shown r LEFT JOIN apps by_app ON by_app.id = r.by_app_id LEFT JOIN apps of_app ON of_app.id = r.of_app_id LEFT JOIN causes c ON c.nth = r.nth AND c.kind = r.kind LEFT JOIN mostly w ON w.kind = r.kind LEFT JOIN nameless e ON e.kind = r.kind LEFT JOIN victims v ON v.nth = r.nth AND v.place <= 4
  LEFT JOIN holders m ON m.nth = r.nth AND m.place = 1 LEFT JOIN had h ON h.nth = v.nth AND h.app_id IS v.app_id
  LEFT JOIN apps a ON a.id = v.app_id LEFT JOIN apps b ON r.nth > 0 AND b.id = coalesce(r.by_app_id, r.of_app_id)
ORDER BY r.nth <= 0, r.nth = -1, r.nth, r.kind IS 'others', iif(r.nth = -1, 0, r.n) DESC, r.kind, r.place, v.place
