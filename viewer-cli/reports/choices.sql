-- choices: one row per choice between priorities; for a WITH. An execution that another lane may have taken at the same time does not count as passed
-- over: the choice already takes that into account. Nor does one that was not honoured count while its app was on probation, as far as the stalls of the app show
-- it: an execution on probation waits behind the others, whatever its priority (docs/figures.md, Stalled).
SELECT c.at, c.chosen_id, c.passed_over_id, c.honoured, c.app_id FROM priority_choice c WHERE c.honoured
UNION ALL
SELECT at, chosen_id, passed_over_id, 0, app_id FROM (
  SELECT w.*, max(probation) OVER (PARTITION BY app_id ORDER BY at) AS since
  FROM (
    SELECT c.at, c.chosen_id, c.passed_over_id, c.app_id, NULL AS probation FROM priority_choice c WHERE NOT c.honoured
    UNION ALL
    SELECT stopped, NULL, NULL, app_id, iif(stopped - lag(stopped) OVER (PARTITION BY app_id ORDER BY stopped) < 1000000000, stopped, NULL)
    FROM preemption s JOIN involved v USING (execution_id) WHERE s.mode = 'stalled') w)
WHERE chosen_id IS NOT NULL AND ifnull(at - since >= 1000000000, 1)
