-- groups: the beginning of a query about stored groups of executions (input/input.h): these relations replace those with a row per group, and have the picked
-- groups only. The model of an execution has no affinity, so "model = 5" is never true of it; || '' takes the affinity away here, too, because a comparison
-- depends on it.
@relations@,
phase_stat AS (SELECT * FROM (SELECT s.app_id, s.model || '' AS model, s.priority, s.path, s.cold, s.phase,
    s.n, s.sum_ns, s.min_ns, s.p50_ns, s.p90_ns, s.p95_ns, s.p99_ns, s.p999_ns, s.max_ns,
    (SELECT name FROM apps WHERE apps.id = s.app_id) AS app FROM main.phase_stat s) WHERE (@where@)),
overhead_cause AS (SELECT * FROM (SELECT s.app_id, s.model || '' AS model, s.priority, s.path, s.cold, s.cause,
    s.n, s.sum_ns, (SELECT name FROM apps WHERE apps.id = s.app_id) AS app
    FROM main.overhead_cause s) WHERE (@where@)),
execution_count AS (SELECT * FROM (SELECT s.*, (SELECT name FROM apps WHERE apps.id = s.app_id) AS app
    FROM main.execution_count s) WHERE (@where@))
