-- choices: one row per choice between priorities that counts; for a WITH. An execution that another lane may have taken at the same time does not count
-- as passed over: the choice already takes that into account. No choice counts that was made while its app was on probation, as far as the stalls of the
-- app show it: an execution on probation waits behind the others, whatever its priority (docs/figures.md, Stalled). The right ones do not count either,
-- because without the wrong ones of that time they prove nothing.
WITH stalls AS (
  SELECT app_id, stopped, lag(stopped) OVER (PARTITION BY app_id ORDER BY stopped) AS before
  FROM preemption s JOIN involved v USING (execution_id) WHERE s.mode = 'stalled'),
probations AS MATERIALIZED (SELECT app_id, stopped FROM stalls WHERE stopped - before < 1000000000)
SELECT c.at, c.chosen_id, c.passed_over_id, c.honoured, c.app_id
FROM priority_choice c WHERE NOT EXISTS (SELECT 1 FROM probations p WHERE p.app_id IS c.app_id)
UNION ALL
SELECT at, chosen_id, passed_over_id, honoured, app_id FROM (
  SELECT w.*, max(probation) OVER (PARTITION BY app_id ORDER BY at) AS since
  FROM (
    SELECT c.at, c.chosen_id, c.passed_over_id, c.honoured, c.app_id, NULL AS probation
    FROM priority_choice c WHERE EXISTS (SELECT 1 FROM probations p WHERE p.app_id IS c.app_id)
    UNION ALL
    SELECT stopped, NULL, NULL, NULL, app_id, stopped FROM probations) w)
WHERE honoured IS NOT NULL AND ifnull(at - since >= 1000000000, 1)
