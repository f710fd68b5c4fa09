-- miss_unsure_picked: what misses_undecided.sql takes of miss_stat, for the picked executions: one row, the sum over all primary causes; for a WITH.
SELECT sum(CASE WHEN w.execution_id IS NOT NULL THEN w.met IS NULL WHEN c.saved IS 1 THEN 0
		WHEN c.cause IN ('too_big', 'too_tight', 'submitted_late') THEN c.saved IS NULL AND NOT (c.cause = 'too_big' AND p.status IS 'MISSED_DEADLINE_PERSISTENT')
			AND EXISTS (SELECT 1 FROM miss_cause o WHERE o.execution_id = c.execution_id AND o.cause <> c.cause AND o.saved IS NOT 0)
		ELSE (
		SELECT max(d.saved) IS NOT 1 AND count(d.saved) < count(*) FROM miss_cause d
		WHERE d.execution_id = c.execution_id AND d.cause IS c.cause) END) AS unsure
	FROM miss_cause c LEFT JOIN miss_without w ON w.execution_id = c.execution_id AND w.cause = c.cause
		CROSS JOIN picked p ON p.id = c.execution_id
	WHERE c.is_primary
