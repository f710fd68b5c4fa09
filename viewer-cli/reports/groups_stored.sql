-- groups_stored: one row: groups of executions, executions in them, the most groups of phase_stat that one group of --by has, and whether its cold and warm
-- executions differ in anything else. same: the columns that are equal within a group.
WITH e AS MATERIALIZED (SELECT app_id, model, priority, path, cold, n FROM phase_stat WHERE phase = 'e2e')
SELECT ifnull(sum(together), 0), ifnull(sum(n), 0), ifnull(max(together), 0),
	EXISTS (SELECT 1 FROM e WHERE cold IS NOT NULL GROUP BY @same@
		HAVING min(app_id) <> max(app_id) OR count(app_id) NOT IN (0, count(*)) OR min(model) <> max(model)
		OR min(priority) <> max(priority) OR count(priority) NOT IN (0, count(*)) OR min(path) <> max(path) OR count(path) NOT IN (0, count(*)))
FROM (SELECT count(*) AS together, sum(n) AS n FROM e GROUP BY @same@, cold)
