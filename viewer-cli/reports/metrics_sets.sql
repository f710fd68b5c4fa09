-- metrics_sets: one row per app, model, path and status of picked executions, the most frequent first.
@relations@
SELECT app_id, model_id, path, status, count(*) AS n
FROM picked
WHERE path IS NOT 'prepare'
GROUP BY 1, 2, 3, 4
ORDER BY n DESC, 1, 2, 3, 4
