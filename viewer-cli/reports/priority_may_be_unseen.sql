-- priority_may_be_unseen: one row: 1 if an inversion or a choice may be missing: something was not recorded, an app with work is unknown, or a model
-- of an app with work of several priorities was not measured.
SELECT EXISTS (SELECT 1 FROM loss)
	OR EXISTS (SELECT 1 FROM possible_wait)
	OR EXISTS (SELECT 1 FROM unknown_lane)
	OR EXISTS (SELECT 1 FROM execution_count WHERE quality = 'head' OR app_id IS NULL OR priority IS NULL)
	OR EXISTS (SELECT 1 FROM model WHERE step_ns IS NULL) AND EXISTS (SELECT 1 FROM execution_count GROUP BY app_id HAVING count(DISTINCT priority) > 1)
