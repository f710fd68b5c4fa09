-- verdict_priority: one row: the facts of the priority verdict (docs/figures.md): all inversions, and the inversion furthest above its bound.
@with@,
stretches AS MATERIALIZED (@stretches@),
unseen_stops AS MATERIALIZED (@unseen_stops@),
probations AS MATERIALIZED (@probations@),
-- most_ns: the most that the holder's stretch can have been. Where a loss leaves room between both, the inversion is no proof
holders AS MATERIALIZED (
	SELECT h.execution_id, ifnull(s.stretch_ns, 0) + @off_core@ AS stretch_ns, max(ifnull(s.stretch_ns, 0), ifnull(t.ns, 0)) + @off_core@ AS most_ns,
		ifnull(s.known AND h.run_ns IS NOT NULL AND (h.complete OR h.cpu_ns IS NOT NULL), 0) AS known
	FROM involved h LEFT JOIN stretches s ON s.model_id = h.model_id LEFT JOIN unseen_stops t ON t.model_id = h.model_id),
limited AS (
	SELECT i.dur_ns, i.victim_id, i.holder_id, ifnull(h.stretch_ns, 0) AS stretch_ns, ifnull(h.most_ns, 0) AS most_ns, ifnull(h.known, 0) AS known,
		@inverted_on_probation@ AS on_probation
	FROM inversion i @only_victims@ LEFT JOIN holders h ON h.execution_id = i.holder_id),
each AS MATERIALIZED (
	SELECT 1 AS n, dur_ns, victim_id, holder_id, iif(dur_ns > most_ns + 1000000, most_ns, stretch_ns) AS stretch_ns,
		@sure@ OR known AND (dur_ns > most_ns + 1000000 OR dur_ns <= stretch_ns + 1000000) AS sure, on_probation
	FROM limited
	UNION ALL -- whose limits are not known
	SELECT i.n, i.longest_ns, NULL, NULL, NULL, @sure@, @lesser_on_probation@ FROM lesser_inversion i @only_victims@),
inversions AS (
	SELECT ifnull(sum(n) FILTER (WHERE NOT on_probation), 0) AS n, ifnull(sum(n) FILTER (WHERE on_probation), 0) AS n_on_probation,
		max(dur_ns) FILTER (WHERE NOT on_probation AND NOT sure AND dur_ns > stretch_ns + 1000000) AS possible_ns,
		max(dur_ns) FILTER (WHERE NOT on_probation AND NOT sure AND stretch_ns IS NULL) AS joined_ns,
		max(dur_ns) FILTER (WHERE on_probation AND (@sure@ OR dur_ns > ifnull(stretch_ns, 0) + 1000000)) AS on_probation_ns
	FROM each),
worst AS MATERIALIZED (SELECT dur_ns, stretch_ns, victim_id, holder_id FROM each WHERE sure AND NOT on_probation ORDER BY @excess@ DESC, dur_ns DESC LIMIT 1),
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
SELECT i.n AS n_inversions, w.dur_ns, w.stretch_ns, i.possible_ns, (SELECT min(ns) FROM less_urgent) AS least_ns,
	(SELECT max(ns) FROM inverted_unseen) AS hidden_ns,
	c.n AS n_choices, c.honoured AS n_honoured,
	2 * (SELECT n FROM unseen_work) AS n_hidden_choices,
	EXISTS (SELECT 1 FROM referred GROUP BY app_id HAVING count(DISTINCT priority) > 1) AS mixed,
	EXISTS (SELECT 1 FROM apps_with_more) AS may_be_mixed, i.joined_ns,
	(SELECT a.name FROM involved v JOIN apps a ON a.id = v.app_id WHERE v.execution_id = w.victim_id) AS app,
	(SELECT m.name FROM involved v JOIN models m ON m.id = v.model_id WHERE v.execution_id = w.victim_id) AS model,
	(SELECT m.name FROM involved h JOIN models m ON m.id = h.model_id WHERE h.execution_id = w.holder_id) AS holder,
	2 * (SELECT strange FROM unseen_work) AS n_strange_choices, b.n AS n_on_probation, b.mostly AS mostly_on_probation,
	i.n_on_probation AS n_inversions_on_probation, i.on_probation_ns,
	@sight@
FROM sight s CROSS JOIN inversions i CROSS JOIN choices c CROSS JOIN on_probation b LEFT JOIN worst w
