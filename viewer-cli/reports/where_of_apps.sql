-- where_of_apps: a row per app for which a condition holds; prepared, to see whether it depends on the app alone.
@names@,
only(app) AS (SELECT name FROM apps) SELECT 1 FROM only WHERE (@where@)
