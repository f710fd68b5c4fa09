-- Replays of missed deadlines, for the page: those with a result.
SELECT execution_id, app_id, model_id, earlier_ns, met, cause AS cause_word
FROM miss_without
WHERE met IS NOT NULL
ORDER BY execution_id, cause IS NULL, cause, app_id IS NULL, app_id, model_id IS NOT NULL, model_id, earlier_ns
