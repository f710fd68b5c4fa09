-- misses_doers: one row per doer and primary cause of the missed deadlines that it is named for: the counts of burstscope summary. n_sure: proved; n_likely:
-- it took most of the delay, and a replay cannot tell. Where no app, service or machine is named for certain or likely, both are NULL. Leaves out preparations.
@with@, @doers@,
each AS (
  SELECT kind, by_app_id, of_app_id, cause, sum(n) AS n, sum(iif(proved, n, 0)) AS n_proved, count(DISTINCT app_id) AS n_victims, kind IN ('several', 'unknown', 'submitted_late', 'cold', 'queue_full', 'dependency') AS is_unnamed
  FROM keyed @chosen@ GROUP BY 1, 2, 3, 4)
SELECT @doer@ AS doer, sum(r.n) OVER (PARTITION BY r.kind, r.by_app_id, r.of_app_id) AS n_of_doer, r.cause, r.n AS n_misses, iif(r.is_unnamed, NULL, r.n_proved) AS n_sure,
  iif(r.is_unnamed, NULL, r.n - r.n_proved) AS n_likely, r.n_victims
FROM each r LEFT JOIN apps by_app ON by_app.id = r.by_app_id LEFT JOIN apps of_app ON of_app.id = r.of_app_id
ORDER BY r.kind IN ('several', 'unknown'), n_of_doer DESC, doer, r.kind, n_misses DESC, r.cause
