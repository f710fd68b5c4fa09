-- miss_doers: miss_blame with the doer that summary and misses name for it, for a WITH; docs/figures.md, Whose doing. kind: app, apps, machine, several, unknown, or a
-- cause. by_app_id: the app that is blamed; of_app_id: the app that missed, where it is not the same doer for all apps. An app or the machine is no doer
-- if replays only speak against it: none is met without it, and one or more are missed all the same. @fair_by@: the name of the app without whose excess fair
-- sharing would have met more deadlines, as the verdict of fairness says.
every AS (
  SELECT b.*, ifnull(m.name, '') AS model,
    CASE WHEN b.blamed IN ('stood', 'waited', 'held') OR b.mostly = 'held' THEN 'machine' WHEN b.blamed IN ('several', 'unknown') THEN b.mostly ELSE b.blamed END AS of_kind
  FROM miss_blame b LEFT JOIN model m ON m.id = b.model_id),
told AS MATERIALIZED (SELECT *, iif(of_kind = 'app', blamed_app_id, NULL) AS most_app_id FROM every),
cleared AS MATERIALIZED (
  SELECT of_kind, most_app_id FROM told WHERE of_kind IN ('app', 'machine') GROUP BY 1, 2
  HAVING sum(proved) = 0 AND sum(blamed = 'several') > 0 AND NOT (most_app_id IS NOT NULL AND (SELECT a.name FROM apps a WHERE a.id = most_app_id) IS @fair_by@)),
blamed AS (
  SELECT t.*, CASE WHEN t.blamed IN ('several', 'unknown') THEN t.blamed WHEN t.blamed = 'late' THEN 'unknown' WHEN t.blamed = 'bad_estimate' THEN 'service'
      WHEN c.of_kind IS NOT NULL THEN 'unknown' ELSE t.of_kind END AS kind
  FROM told t LEFT JOIN cleared c ON c.of_kind = t.of_kind AND c.most_app_id IS t.most_app_id),
keyed AS MATERIALIZED (
  SELECT *, iif(kind = 'app', blamed_app_id, NULL) AS by_app_id, iif(kind IN ('app', 'machine', 'service', 'stopped', 'off_core', 'several', 'unknown'), NULL, app_id) AS of_app_id FROM blamed),
-- Of three apps, several others are the other two, unless another one may have been lost.
only_three AS MATERIALIZED (SELECT 1 AS yes WHERE (SELECT count(*) FROM app) = 3 AND NOT EXISTS (SELECT 1 FROM loss))
