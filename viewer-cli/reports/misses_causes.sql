-- misses_causes: one row per cause of missed deadlines: misses that it caused, and the time it took.
-- n_misses: of which it is the primary cause; n_saved: that would not have been without it, by replay, whatever their primary cause; n_unsure: of
-- which that cannot be told; lost_ns: beyond what is typical. Leaves out causes that took none.
@with@, @stats@
SELECT cause, sum(misses) AS n_misses, sum(persistent) AS n_persistent, sum(saved) AS n_saved, sum(lost_ns) AS lost_ns,
	max(worst_ns) AS worst_ns, sum(unsure) AS n_unsure
FROM stats WHERE cause NOT IN ('own_run', 'unused')
GROUP BY cause HAVING sum(lost_ns) > 0 OR sum(misses) > 0
ORDER BY n_misses DESC, lost_ns DESC, cause
