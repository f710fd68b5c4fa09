-- misses_stats: sums of misses, of rows; for a WITH.
stats AS (
@rows@)
-- misses_sums_kept: the sums of misses by cause that misses_sums_made keeps; for a WITH.
stats AS (SELECT * FROM picked_miss_stat)
-- misses_picked: the picked misses, each with its primary cause, in the order of their ids; for a FROM.
SELECT p.id, p.app_id, p.model_id, p.priority, p.status, p.miss, p.deadline, p.submitted, p.lateness_ns, c.cause, c.culprit_execution_id, c.culprit_app_id,
		c.late_ns, c.saved
	FROM miss_cause c CROSS JOIN picked p ON p.id = c.execution_id WHERE c.is_primary
-- misses_picked_kept: the same, where misses_sums_made has made a table of it.
SELECT * FROM picked_miss
-- misses_kinds_kept: the picked executions by kind, as misses_kinds_made keeps them; for a FROM.
SELECT * FROM picked_kind
-- misses_kinds_kept_had: those of them that had, or may have had, a deadline.
SELECT * FROM picked_kind WHERE had
-- misses_had_deadline: a condition more on executions: they had, or may have had, a deadline. (LIMIT -1 is no limit: it makes SQLite sort fewer columns.)
 AND (deadline IS NOT NULL OR miss IS NOT NULL OR @unknown@) LIMIT -1
-- misses_and_unsure: more kinds: the executions for which a condition holds, one by one, that something is not known of; they are counted elsewhere.
UNION ALL SELECT app_id, coalesce((SELECT m.name FROM model m WHERE m.id = p.model_id), '') AS model, priority, NULL, NULL, 0, 0, @unknown@, @unseen@
	FROM execution p WHERE @condition@
-- misses_and_sums: more kinds: how many executions something is not known of.
UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, 0, 0, @n_unknown@, @n_unseen@
-- count_of: a statement: the number of executions for which a condition holds.
SELECT count(*) FROM execution WHERE @condition@
-- victims_by_app: the columns that differ between the victims of misses, by app.
app_id
-- victims_by_model: the columns that differ between the victims of misses, by app, model and priority.
app_id, model, priority
-- victims_model_names: columns that name a victim h besides its app.
CASE h.model WHEN '' THEN '?' ELSE h.model END AS model, h.priority,
-- victims_same_app: a condition on causes w: they are of the victim h.
w.app_id IS h.app_id
-- victims_same_model: the same, by app, model and priority.
w.app_id IS h.app_id AND w.model IS h.model AND w.priority IS h.priority
-- victims_model_order: columns that victims h are ordered by besides their app.
h.model, h.priority,
-- misses_chosen: a condition on rows of miss_blame: they are of the app, model, priority and primary cause of picked misses.
WHERE (ifnull(app_id, -1), ifnull(model_id, -1), ifnull(priority, ''), cause) IN (
    SELECT ifnull(app_id, -1), ifnull(model_id, -1), ifnull(priority, ''), cause FROM (@missed@))
-- misses_chosen_whole: a statement: one row: whether these rows have no other misses than the picked ones.
@with@ SELECT (SELECT total(n) FROM miss_blame @chosen@) = (SELECT count(*) FROM (@missed@))
