-- case_late_models: one row per model whose preparation missed its deadline from @since@ to @until@. Leaves out what @only@ leaves out.
@with@, called AS (SELECT id, uid, coalesce(nullif(name, ''), 'app ' || key) AS name FROM app)
SELECT a.name AS app, a.uid AS user, coalesce(m.name, '?') AS model, count(*) AS n_misses, max(d.over_ns) AS worst_ns
FROM deadline_miss d LEFT JOIN model m ON m.id = d.model_id LEFT JOIN called a ON a.id = m.app_id
WHERE d.execution_id IS NULL AND d.at BETWEEN @since@ AND @until@ AND @only@
GROUP BY 1, 2, 3 ORDER BY n_misses DESC, app, user, model
