-- verdict_priority: one row: what the priority verdict is made of (docs/figures.md): all inversions, and that furthest above its bound.
@with@, @hidden@,
stretches AS MATERIALIZED (@stretches@),
each AS MATERIALIZED (
	SELECT i.dur_ns, ifnull(s.stretch_ns, 0) + @off_core@ AS stretch_ns,
		@sure@ OR ifnull(s.known AND h.run_ns IS NOT NULL AND (h.complete OR h.cpu_ns IS NOT NULL), 0) AS sure
	FROM inversion i @only_victims@ LEFT JOIN execution h ON h.id = i.holder_id LEFT JOIN stretches s ON s.model_id = h.model_id),
worst AS (SELECT dur_ns, stretch_ns FROM each WHERE sure ORDER BY @excess@ DESC, dur_ns DESC LIMIT 1),
every_choice AS (@choices@),
choices AS MATERIALIZED (SELECT count(*) AS n, ifnull(sum(c.honoured), 0) AS honoured FROM every_choice c @only_chosen@),
ranks(priority, rank) AS (VALUES ('low', 0), ('medium', 1), ('high', 2)),
had AS MATERIALIZED (SELECT DISTINCT app_id, priority FROM execution_count WHERE sides <> 'client'),
referred AS MATERIALIZED (
	SELECT app_id, priority FROM had h WHERE (SELECT count(*) FROM had o WHERE o.app_id IS h.app_id) = 1
		OR EXISTS (SELECT 1 FROM execution x WHERE x.app_id IS h.app_id AND x.priority IS h.priority AND coalesce(x.enqueued, x.dispatched) IS NOT NULL)),
-- work that an app had, or may have had: what is unknown is any
work AS (
	SELECT app_id, priority FROM referred
	UNION SELECT m.app_id, m.priority FROM model m WHERE (SELECT losses FROM sight)),
apps_with_more AS MATERIALIZED (
	SELECT w.app_id, max(ifnull(k.rank, 2)) AS most FROM work w LEFT JOIN ranks k ON k.priority = w.priority
	GROUP BY w.app_id HAVING count(DISTINCT w.priority) > 1 OR count(*) > count(w.priority)),
less_urgent AS (
	SELECT ifnull(s.stretch_ns * s.known, 0) AS ns FROM stretches s JOIN apps_with_more a ON a.app_id IS s.app_id LEFT JOIN ranks k ON k.priority = s.priority
	WHERE ifnull(k.rank < a.most, 1)
	UNION ALL SELECT 0 FROM apps_with_more a WHERE EXISTS (SELECT 1 FROM referred r WHERE r.app_id IS a.app_id AND r.priority IS NULL)),
unseen_work AS MATERIALIZED (
	SELECT (SELECT count(*) FROM picked p WHERE p.quality IN ('gap', 'tail') AND p.sides IS NOT 'client' AND p.app_id IN (SELECT app_id FROM apps_with_more))
		+ (SELECT ifnull(sum(n), 0) FROM (SELECT max(seq) - min(seq) + 1 - count(*) AS n FROM execution GROUP BY stream_id))
		+ (SELECT count(DISTINCT h.execution_id) FROM hidden_waits h JOIN execution x ON x.id = h.execution_id WHERE x.quality NOT IN ('gap', 'tail')) AS n
	WHERE (SELECT max(ifnull(hole_ns, 0), ifnull(wait_ns, 0)) > 0 FROM sight))
SELECT (SELECT count(*) FROM each) AS n_inversions, (SELECT dur_ns FROM worst) AS dur_ns,
	(SELECT stretch_ns FROM worst) AS stretch_ns,
	(SELECT max(dur_ns) FROM each WHERE NOT sure AND dur_ns > stretch_ns + 1000000) AS unsure_ns,
	(SELECT min(ns) FROM less_urgent) AS least_ns,
	CASE WHEN EXISTS (SELECT 1 FROM apps_with_more) THEN max(ifnull(s.hole_ns, 0), ifnull(s.lane_ns, 0), ifnull(
		(SELECT max(ifnull(h.ended - h.began, 9223372036854775807)) FROM hidden_waits h
		WHERE h.app_id IS NULL OR h.app_id IN (SELECT app_id FROM apps_with_more)), 0)) ELSE 0 END AS hidden_ns,
	(SELECT n FROM choices) AS n_choices, (SELECT honoured FROM choices) AS n_honoured,
	2 * (SELECT n FROM unseen_work) AS n_hidden_choices,
	EXISTS (SELECT 1 FROM referred GROUP BY app_id HAVING count(DISTINCT priority) > 1) AS mixed,
	EXISTS (SELECT 1 FROM apps_with_more) AS may_be_mixed,
	@sight@
FROM sight s
