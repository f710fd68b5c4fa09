-- verdict_priority: one row: the facts of the priority verdict (docs/figures.md) but those of verdict_priority_inversions.sql, and the names of one
-- inversion, @victim@ and @holder@.
@with@,
stretches AS MATERIALIZED (@stretches@),
counted AS (@choices@),
counted_of AS MATERIALIZED (SELECT c.app_id, count(*) AS n, sum(c.honoured) AS honoured FROM counted c @only_chosen@ GROUP BY c.app_id),
choices AS MATERIALIZED (SELECT ifnull(sum(n), 0) AS n, ifnull(sum(honoured), 0) AS honoured FROM counted_of),
-- choices that were made on probation, and whether fewer than half of an app's choices are left without them
on_probation AS MATERIALIZED (
	SELECT ifnull(sum(a.n - ifnull(k.n, 0)), 0) AS n, ifnull(max(2 * ifnull(k.n, 0) < a.n), 0) AS mostly
	FROM (SELECT c.app_id, count(*) AS n FROM priority_choice c @only_chosen@ GROUP BY c.app_id) a LEFT JOIN counted_of k ON k.app_id IS a.app_id),
ranks(priority, rank) AS (VALUES ('low', 0), ('medium', 1), ('high', 2)),
@work@,
less_urgent AS (
	SELECT ifnull(s.stretch_ns * s.known, 0) AS ns FROM stretches s JOIN apps_with_more a ON a.app_id IS s.app_id LEFT JOIN ranks k ON k.priority = s.priority
	WHERE ifnull(k.rank < a.most, 1)
	UNION ALL SELECT 0 FROM apps_with_more a JOIN referred r ON r.app_id IS a.app_id AND r.priority IS NULL),
@unseen@
SELECT (SELECT min(ns) FROM less_urgent) AS least_ns,
	(SELECT max(ns) FROM inverted_unseen) AS hidden_ns,
	c.n AS n_choices, c.honoured AS n_honoured,
	2 * (SELECT n FROM unseen_work) AS n_hidden_choices,
	EXISTS (SELECT 1 FROM referred GROUP BY app_id HAVING count(DISTINCT priority) > 1) AS mixed,
	EXISTS (SELECT 1 FROM apps_with_more) AS may_be_mixed,
	(SELECT a.name FROM involved v JOIN apps a ON a.id = v.app_id WHERE v.execution_id = @victim@) AS app,
	(SELECT m.name FROM involved v JOIN models m ON m.id = v.model_id WHERE v.execution_id = @victim@) AS model,
	(SELECT m.name FROM involved h JOIN models m ON m.id = h.model_id WHERE h.execution_id = @holder@) AS holder,
	2 * (SELECT strange FROM unseen_work) AS n_strange_choices, b.n AS n_on_probation, b.mostly AS mostly_on_probation,
	@sight@
FROM sight s CROSS JOIN choices c CROSS JOIN on_probation b
