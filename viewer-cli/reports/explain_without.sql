-- explain_without: replays of a miss: without a cause of several rows, without an app, without one of its models, and with an earlier submission.
@with@
SELECT w.cause, a.name AS app, m.name AS model, w.earlier_ns, w.met
FROM miss_without w LEFT JOIN apps a ON a.id = w.app_id LEFT JOIN models m ON m.id = w.model_id
WHERE w.execution_id = @id@ ORDER BY w.cause IS NULL, w.cause, w.app_id IS NULL, a.name, w.app_id, w.model_id IS NOT NULL, m.name, w.earlier_ns
