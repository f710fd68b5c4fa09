-- export_causes: one row per cause of a miss of the executions :from to :to, by execution, the primary cause first: its part of the lateness, and
-- the culprit if it is the primary cause.
SELECT execution_id, cause, sum(late_ns), max(is_primary), max(iif(is_primary, culprit_execution_id, NULL)), max(iif(is_primary, culprit_app_id, NULL))
FROM miss_cause
WHERE execution_id BETWEEN :from AND :to
GROUP BY execution_id, cause
ORDER BY execution_id, 4 DESC, cause
