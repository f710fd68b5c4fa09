-- metrics_misses: one row per app, model and primary cause of the misses of picked executions, the most frequent first: the longest lateness, and the
-- execution that has it, as an example.
@relations@
SELECT p.app_id, p.model_id, c.cause, count(*) AS n, max(p.lateness_ns), p.id, p.deadline + p.lateness_ns
FROM picked p LEFT JOIN miss_cause c ON c.execution_id = p.id AND c.is_primary
WHERE p.miss IS NOT NULL AND p.path IS NOT 'prepare'
GROUP BY 1, 2, 3
ORDER BY n DESC, 1, 2, 3
