-- Causes of missed deadlines, for the page.
SELECT execution_id, culprit_execution_id, culprit_app_id, budget_ns, late_ns, saved, is_primary, cause AS cause_word
FROM miss_cause
ORDER BY execution_id, is_primary DESC, late_ns DESC
