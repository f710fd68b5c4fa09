-- shares_may_be_unseen: one row: 1 if an app that held a lane may have had more than its share without being said to: something was not recorded, or a
-- model was not measured (docs/figures.md, hogged).
SELECT EXISTS (SELECT 1 FROM loss)
	OR EXISTS (SELECT 1 FROM possible_wait)
	OR EXISTS (SELECT 1 FROM unknown_lane)
	OR EXISTS (SELECT 1 FROM execution_count WHERE quality = 'head' OR app_id IS NULL)
	OR EXISTS (SELECT 1 FROM model WHERE step_ns IS NULL AND number IS NOT NULL)
