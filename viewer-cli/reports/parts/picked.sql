-- picked: the beginning of every query (input/input.h): names, and the picked executions. of_apps: picked_of_apps; only: picked_only; both may be empty.
@names@,
picked AS NOT MATERIALIZED (
  SELECT * FROM (SELECT x.*, (SELECT name FROM apps WHERE apps.id = x.app_id) AS app,
    (SELECT name FROM models WHERE models.id = x.model_id) AS model FROM execution x@of_apps@)@only@)
