-- Causes of missed deadlines, for the page, those of an execution one after the other: world.c sorts these few, which SQLite would do in a heap for each execution.
SELECT execution_id, culprit_execution_id, culprit_app_id, budget_ns, late_ns, saved, is_primary, cause AS cause_word
FROM miss_cause
ORDER BY execution_id
