-- which_estimate: one row or none: the time that the service estimated for the execution @id@, as its typical run; for a WITH. Of a miss that ran for less,
-- its own run.
estimate(ns) AS ( -- none if a run of the model and path was recorded
	SELECT CASE WHEN x.miss = 'late' AND x.run_ns - x.redo_ns < x.ns THEN x.run_ns - x.redo_ns ELSE x.ns END
	FROM (SELECT e.miss, e.run_ns, e.redo_ns,
			coalesce((SELECT nullif(estimate_ns, 0) FROM stored_missed WHERE execution_id = @id@), (SELECT nullif(estimate_ns, 0) FROM model WHERE id = e.model_id)) AS ns
		FROM execution e WHERE e.id = @id@ AND e.path <> 'prepare'
			AND NOT EXISTS (SELECT 1 FROM typical t WHERE t.model_id = e.model_id AND t.path = e.path AND t.runs > 0)) x
	WHERE x.ns IS NOT NULL)
