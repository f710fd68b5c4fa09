-- groups_stored: one row: groups of executions, executions in them, the most groups of phase_stat that one group of --by has, and whether its cold and warm
-- executions differ in anything else. same: the columns that are equal within a group.
SELECT count(*), ifnull(sum(n), 0), ifnull(max(together), 0), ifnull(max(iif(cold IS NULL, 0, pairs)), 0)
FROM (SELECT n, cold, count(*) OVER (PARTITION BY @same@, cold) AS together,
		max(who) OVER (PARTITION BY @same@, cold IS NULL) - min(who) OVER (PARTITION BY @same@, cold IS NULL) AS pairs
	FROM (SELECT *, dense_rank() OVER (ORDER BY app_id, model, priority, path) AS who FROM phase_stat WHERE phase = 'e2e'))
