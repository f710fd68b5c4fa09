-- where_of_groups: a row per group for which a condition holds; prepared, to see whether it depends on columns of groups alone. It has no other columns of executions.
@names@,
groups AS (SELECT app_id, priority, path@model@, (SELECT name FROM apps WHERE apps.id = c.app_id) AS app FROM execution_count c)
SELECT 1 FROM groups WHERE (@where@)
