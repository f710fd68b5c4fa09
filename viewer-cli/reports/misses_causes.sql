-- misses_causes: one row per cause of missed deadlines. n_misses: misses with this primary cause; n_saved: misses that a replay avoids without the
-- cause, whatever their primary cause; n_unsure: misses with this primary cause of which the replay cannot tell, NULL where it
-- is certain that too little time was left at the submission; lost_ns: time beyond the typical one. Leaves out causes
-- without misses and time.
@with@, @stats@
SELECT cause, sum(misses) AS n_misses, sum(persistent) AS n_persistent, sum(saved) AS n_saved, sum(lost_ns) AS lost_ns,
	max(worst_ns) AS worst_ns, iif(cause IN ('too_big', 'too_tight', 'submitted_late') AND sum(unsure) = 0, NULL, sum(unsure)) AS n_unsure
FROM stats WHERE cause NOT IN ('own_run', 'unused')
GROUP BY cause HAVING sum(lost_ns) > 0 OR sum(misses) > 0
ORDER BY n_misses DESC, lost_ns DESC, cause
