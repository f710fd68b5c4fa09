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
least AS MATERIALIZED (SELECT @limit_least@ AS ns),
-- when urgent work of an app may have waited, and when less urgent work of it may have had a lane: for longer than it may
unseen AS MATERIALIZED (
	SELECT a.app_id, h.began, h.ended FROM apps_with_more a JOIN holes h
	UNION ALL SELECT a.app_id, ifnull(h.began, -4611686018427387903), h.ended FROM apps_with_more a JOIN hidden_waits h ON h.app_id IS NULL OR h.app_id IS a.app_id),
unseen_lanes AS MATERIALIZED (
	SELECT ifnull(began, -4611686018427387903) AS began, ended FROM hidden_lanes WHERE ended - ifnull(began, @began@ - 1000000000) > (SELECT ns FROM least)),
long_slices AS MATERIALIZED (
	SELECT l.began, l.ended, h.app_id, @limit@ AS limit_ns, ifnull(s.measured, 0) AS measured, ifnull(k.rank, -1) AS rank
	FROM lane_slice l JOIN execution h ON h.id = l.execution_id JOIN apps_with_more a ON a.app_id IS h.app_id
		LEFT JOIN stretches s ON s.model_id = h.model_id LEFT JOIN ranks k ON k.priority = h.priority
	WHERE (EXISTS (SELECT 1 FROM unseen) OR EXISTS (SELECT 1 FROM stretches t JOIN apps_with_more b ON b.app_id IS t.app_id WHERE NOT t.measured))
		AND ifnull(k.rank < a.most, 1) AND l.ended - l.began > @limit@),
waiting AS (
	SELECT coalesce(x.enqueued, x.decoded, x.request_read, x.submitted, -4611686018427387903) AS began, coalesce(x.run_ended, x.result_written, 4611686018427387903) AS ended,
		ifnull(x.queue_ns + x.preempted_ns, 9223372036854775807) AS ns, x.app_id, ifnull(k.rank, 2) AS rank
	FROM execution x JOIN apps_with_more a ON a.app_id IS x.app_id LEFT JOIN ranks k ON k.priority = x.priority
	WHERE (EXISTS (SELECT 1 FROM unseen_lanes) OR EXISTS (SELECT 1 FROM long_slices WHERE NOT measured)) AND x.sides IS NOT 'client'),
inverted_unseen AS (
	SELECT min(u.ended, l.ended) - max(u.began, l.began) AS ns FROM unseen u JOIN long_slices l ON l.app_id IS u.app_id
	WHERE min(u.ended, l.ended) - max(u.began, l.began) > l.limit_ns
	UNION ALL
	SELECT min(u.ended, l.ended) - max(u.began, l.began) FROM unseen u JOIN unseen_lanes l ON l.began < u.ended AND l.ended > u.began
	UNION ALL
	SELECT min(min(w.ended, l.ended) - max(w.began, l.began), w.ns) FROM waiting w JOIN unseen_lanes l ON l.began < w.ended AND l.ended > w.began
	UNION ALL -- the import tells inversions of models whose steps were measured
	SELECT min(min(w.ended, l.ended) - max(w.began, l.began), w.ns) FROM waiting w JOIN long_slices l ON l.app_id IS w.app_id AND l.rank < w.rank
	WHERE NOT l.measured AND min(min(w.ended, l.ended) - max(w.began, l.began), w.ns) > l.limit_ns
	UNION ALL -- who waits may be more urgent than who has a lane, or not
	SELECT 9223372036854775807 FROM referred WHERE app_id IS NULL OR priority IS NULL),
unseen_work AS MATERIALIZED (
	SELECT (SELECT count(*) FROM picked p WHERE p.quality IN ('gap', 'tail') AND p.sides IS NOT 'client' AND p.app_id IN (SELECT app_id FROM apps_with_more))
		+ (SELECT ifnull(sum(n), 0) FROM (SELECT max(seq) - min(seq) + 1 - count(*) AS n FROM execution GROUP BY stream_id))
		+ (SELECT count(DISTINCT h.execution_id) FROM hidden_waits h JOIN execution x ON x.id = h.execution_id WHERE x.quality NOT IN ('gap', 'tail')) AS n
	WHERE (SELECT max(ifnull(hole_ns, 0), ifnull(wait_ns, 0)) > 0 FROM sight))
SELECT (SELECT count(*) FROM each) AS n_inversions, (SELECT dur_ns FROM worst) AS dur_ns,
	(SELECT stretch_ns FROM worst) AS stretch_ns,
	(SELECT max(dur_ns) FROM each WHERE NOT sure AND dur_ns > stretch_ns + 1000000) AS unsure_ns,
	(SELECT min(ns) FROM less_urgent) AS least_ns,
	(SELECT max(ns) FROM inverted_unseen) AS hidden_ns,
	(SELECT n FROM choices) AS n_choices, (SELECT honoured FROM choices) AS n_honoured,
	2 * (SELECT n FROM unseen_work) AS n_hidden_choices,
	EXISTS (SELECT 1 FROM referred GROUP BY app_id HAVING count(DISTINCT priority) > 1) AS mixed,
	EXISTS (SELECT 1 FROM apps_with_more) AS may_be_mixed,
	@sight@
FROM sight s
