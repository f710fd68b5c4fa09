-- summary_misses: the missed deadlines by whose doing they were (miss_blame; docs/figures.md, Whose doing), as findings: one row per victim (an app, and its
-- model if only one is concerned) of a finding, nth 1 being the largest. What one other app did is one finding, and so is what the machine
-- did, whatever the causes; what an app did to itself is one per app and cause. Findings beyond the first four and those behind the first with less than a tenth of all
-- misses are added up, one row per kind, in nth 0; nth -1 is what none of the doers alone decided (several), and what cannot be told (unknown).
-- An app or the machine is no doer if replays only speak against it: none is met without it, and one or more are missed all the same.
-- @fair_by@: the name of the app without whose excess fair sharing would have met more deadlines, as the verdict of fairness says.
@with@,
every AS MATERIALIZED (
  SELECT b.*, ifnull(m.name, '') AS model, b.blamed IN ('app', 'machine', 'stood', 'waited') AND b.proved = 0 AS is_likely,
    iif(b.blamed IN ('stood', 'waited') OR b.blamed = 'several' AND b.blamed_app_id IS NULL AND b.cause IN ('handover', 'woken_late', 'polled_late', 'slow_compute', 'off_core', 'machine_busy'), 'machine',
      iif(b.blamed = 'several' AND b.blamed_app_id IS NOT NULL, 'app', b.blamed)) AS of_kind
  FROM miss_blame b LEFT JOIN model m ON m.id = b.model_id),
cleared AS MATERIALIZED (
  SELECT of_kind, blamed_app_id FROM every WHERE of_kind IN ('app', 'machine') GROUP BY 1, 2
  HAVING sum(proved) = 0 AND sum(blamed = 'several') > 0 AND NOT (blamed_app_id IS NOT NULL AND (SELECT a.name FROM apps a WHERE a.id = blamed_app_id) IS @fair_by@)),
blamed AS MATERIALIZED (
  SELECT e.*, CASE WHEN e.blamed = 'several' THEN 'several' WHEN e.blamed = 'late' THEN 'unknown' WHEN e.blamed = 'bad_estimate' THEN 'service'
      WHEN e.of_kind IN ('app', 'machine') AND c.of_kind IS NOT NULL THEN 'unknown' ELSE e.of_kind END AS kind
  FROM every e LEFT JOIN cleared c ON c.of_kind = e.of_kind AND c.blamed_app_id IS e.blamed_app_id),
keyed AS MATERIALIZED (
  SELECT *, iif(kind = 'app', blamed_app_id, NULL) AS by_app_id, iif(kind IN ('queued_behind', 'inversion'), app_id, NULL) AS of_app_id FROM blamed),
sums AS MATERIALIZED (
  SELECT kind, by_app_id, of_app_id, sum(n) AS n, sum(iif(proved, n, 0)) AS n_proved, CAST(total(late_ns) AS INTEGER) AS late_ns, min(first) AS first, max(last) AS last,
    sum(persistent) AS n_persistent, sum(iif(followed, n, 0)) AS n_followed, sum(iif(blamed = 'stood', n, 0)) AS n_stood, sum(iif(blamed = 'waited', n, 0)) AS n_waited,
    ifnull(sum(n) FILTER (WHERE cause = 'hogged'), 0) AS n_hogged,
    ifnull(sum(n) FILTER (WHERE priority = 'low' AND blamed_priority IN ('medium', 'high') OR priority = 'medium' AND blamed_priority = 'high'), 0) AS n_outranked,
    (SELECT sum(k.n) FROM keyed k WHERE k.kind = 'several' AND s.kind IN ('app', 'machine') AND k.of_kind = s.kind AND k.blamed_app_id IS s.by_app_id) AS n_against,
    sum(sum(n)) OVER () AS n_all
  FROM keyed s GROUP BY 1, 2, 3),
ordered AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY kind IN ('several', 'unknown') ORDER BY n DESC, n_proved DESC, late_ns DESC, kind, by_app_id, of_app_id) AS place FROM sums),
placed AS MATERIALIZED (
  SELECT *, CASE WHEN kind IN ('several', 'unknown') THEN -1 WHEN place = 1 OR place <= 4 AND 10 * n >= n_all THEN place ELSE 0 END AS nth FROM ordered),
found AS MATERIALIZED (
  SELECT p.nth, k.* FROM placed p JOIN keyed k ON k.kind = p.kind AND k.by_app_id IS p.by_app_id AND k.of_app_id IS p.of_app_id),
causes AS (
  SELECT nth, kind, group_concat(cause || ' ' || n, ',') AS causes,
    (SELECT f.cause FROM found f WHERE f.nth = c.nth AND f.kind = 'app' AND f.cause IN ('crowded_out', 'hogged', 'preempted', 'redo') GROUP BY 1 ORDER BY sum(f.n) DESC, 1 LIMIT 1) AS most_by
  FROM (SELECT nth, kind, cause, sum(n) AS n FROM found GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC, 3) c GROUP BY nth, kind),
-- Of misses without a doer: whose work took the largest part of the delay, where that is known, and otherwise the cause.
mostly AS (
  SELECT kind, group_concat(doer || ' ' || replace(printf('%,d', n), ',', ' '), ', ') AS mostly FROM (
    SELECT k.kind, iif(k.of_kind = 'machine', 'the machine', a.name) AS doer, sum(k.n) AS n FROM keyed k LEFT JOIN apps a ON a.id = k.blamed_app_id
    WHERE k.kind IN ('several', 'unknown') AND (k.of_kind = 'machine' OR a.name IS NOT NULL) GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2) GROUP BY kind),
nameless AS (
  SELECT kind, group_concat(cause || ' ' || n, ',') AS causes FROM (
    SELECT k.kind, k.cause, sum(k.n) AS n FROM keyed k LEFT JOIN apps a ON a.id = k.blamed_app_id
    WHERE k.kind IN ('several', 'unknown') AND k.of_kind <> 'machine' AND a.name IS NULL GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2) GROUP BY kind),
holders AS (
  SELECT f.nth, d.name AS model, sum(f.n) AS n, row_number() OVER (PARTITION BY f.nth ORDER BY sum(f.n) DESC, d.name) AS place
  FROM found f JOIN model d ON d.id = f.blamed_model_id WHERE f.nth > 0 AND f.kind IN ('app', 'queued_behind', 'inversion') GROUP BY 1, 2),
victims AS MATERIALIZED (
  SELECT nth, app_id, iif(count(DISTINCT model) = 1, max(model), NULL) AS model, sum(n) AS n, max(model_id) AS model_id, count(*) OVER (PARTITION BY nth) AS n_victims,
    row_number() OVER (PARTITION BY nth ORDER BY sum(n) DESC, app_id) AS place
  FROM found WHERE nth > 0 GROUP BY nth, app_id),
had AS (
  SELECT v.nth, v.app_id, iif(@n_unknown@ + @n_unseen@ > 0, NULL, sum(c.deadlines)) AS n_deadlines
  FROM victims v JOIN execution_count c ON c.app_id IS v.app_id AND c.model = ifnull(v.model, c.model) WHERE v.place <= 4 GROUP BY 1, 2),
added AS (
  SELECT nth, kind, sum(n) AS n, sum(n_proved) AS n_proved, sum(late_ns) AS late_ns, min(first) AS first, max(last) AS last, sum(n_persistent) AS n_persistent, sum(n_followed) AS n_followed,
    sum(n_stood) AS n_stood, sum(n_waited) AS n_waited, sum(n_hogged) AS n_hogged, sum(n_outranked) AS n_outranked, ifnull(sum(n_against), 0) AS n_against, max(by_app_id) AS by_app_id, max(of_app_id) AS of_app_id
  FROM placed GROUP BY nth, kind)
SELECT r.nth, r.kind, r.n, r.n_proved, r.late_ns, r.first - @began@ AS first_at, r.last - @began@ AS last_at, r.n_persistent, r.n_followed, r.n_stood, r.n_waited, r.n_hogged, r.n_outranked,
  r.n_against, c.causes, w.mostly, e.causes AS nameless, c.most_by, b.name AS by_app, nullif(m.model, '') AS by_model, m.n AS n_by_model,
  a.name AS app, nullif(v.model, '') AS model, v.n AS n_victim, h.n_deadlines, v.n_victims,
  (SELECT t.p50_ns FROM short_budget t WHERE t.cause = iif(r.kind = 'thread', 'submitted_late', r.kind) AND t.app_id IS v.app_id AND t.model = v.model) AS budget_ns,
  coalesce((SELECT max(t.p50_ns) FROM typical t WHERE t.model_id = v.model_id AND t.phase = 'run'),
    (SELECT d.estimate_ns FROM model d WHERE d.id = v.model_id)) AS run_ns,
  (SELECT max(u.p50_ns) FROM usual_budget u WHERE r.kind IN ('submitted_late', 'thread') AND u.model_id = v.model_id) AS usual_budget_ns
FROM added r JOIN causes c ON c.nth = r.nth AND c.kind = r.kind LEFT JOIN mostly w ON w.kind = r.kind LEFT JOIN nameless e ON e.kind = r.kind LEFT JOIN victims v ON v.nth = r.nth AND v.place <= 4
  LEFT JOIN holders m ON m.nth = r.nth AND m.place = 1 LEFT JOIN had h ON h.nth = v.nth AND h.app_id IS v.app_id
  LEFT JOIN apps a ON a.id = v.app_id LEFT JOIN apps b ON r.nth > 0 AND b.id = coalesce(r.by_app_id, r.of_app_id)
ORDER BY r.nth <= 0, r.nth = -1, r.nth, iif(r.nth = -1, 0, r.n) DESC, r.kind, v.place
