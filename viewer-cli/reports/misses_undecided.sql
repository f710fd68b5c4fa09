-- misses_undecided: why no replay decides whether misses would have been met without their primary cause: one row per reason. Its n_misses add up to n_unsure of
-- misses_causes. reason: outcome of miss_replay; replayed: the replays of it do not tell; cause: a replay cannot leave out such a cause; sample: it is not in the
-- sample that is replayed, or its deadline is not known.
@with@, @stats@,
unsure AS (
	SELECT iif(c.cause IN ('dependency', 'bad_estimate', 'stalled', 'stopped', 'overbooked', 'unknown'), 'cause', r.outcome) AS reason
	FROM miss_replay r CROSS JOIN miss_cause c ON c.execution_id = r.execution_id AND c.is_primary
		LEFT JOIN miss_without w ON w.execution_id = c.execution_id AND w.cause = c.cause
		CROSS JOIN picked p ON p.id = c.execution_id -- last: most are decided
	WHERE CASE WHEN w.execution_id IS NOT NULL THEN w.met IS NULL
		WHEN c.cause IN ('too_big', 'too_tight', 'submitted_late') THEN c.saved IS NULL AND NOT (c.cause = 'too_big' AND p.status IS 'MISSED_DEADLINE_PERSISTENT')
			AND EXISTS (SELECT 1 FROM miss_cause o WHERE o.execution_id = c.execution_id AND o.cause <> c.cause AND o.saved IS NOT 0)
		ELSE (SELECT max(d.saved) IS NOT 1 AND count(d.saved) < count(*) FROM miss_cause d
			WHERE d.execution_id = c.execution_id AND d.cause = c.cause) END),
sampled AS (SELECT reason, count(*) AS n FROM unsure GROUP BY reason)
SELECT reason, n AS n_misses FROM (
	SELECT reason, n FROM sampled UNION ALL
	SELECT 'sample', CAST((SELECT total(unsure) FROM stats) - (SELECT total(n) FROM sampled) AS INTEGER))
WHERE n > 0 ORDER BY n_misses DESC, reason
