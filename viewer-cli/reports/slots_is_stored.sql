-- slots_is_stored: one row: 1 if slots_stored is exact: every burst has an app and a model, every model a name, and every group one median.
SELECT NOT EXISTS (SELECT 1 FROM burst WHERE executions > 0 AND (app_id IS NULL OR model_id IS NULL))
	AND NOT EXISTS (SELECT 1 FROM model WHERE ifnull(name, '') = '')
	AND NOT EXISTS (SELECT 1 FROM phase_stat WHERE path = 'burst' AND phase = 'slots' GROUP BY app_id, model, cold HAVING count(*) > 1)
