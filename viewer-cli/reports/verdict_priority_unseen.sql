-- verdict_priority_unseen: the part of verdict_priority about unrecorded or unmeasured work: the longest inversion that may have happened, and the
-- number of executions that may have been chosen; for a WITH. Without a hole, and with all models measured, there is neither.
least AS MATERIALIZED (SELECT @limit_least@ + @slack@ AS ns),
-- when urgent work of an app may have waited, and when less urgent work of it may have had a lane: for longer than it may.
-- Of any app: a row for each would be thousands of apps times thousands of executions that were added up
unseen_of_any AS MATERIALIZED (
	SELECT h.began, h.ended FROM holes h WHERE (SELECT executions FROM hides) AND EXISTS (SELECT 1 FROM apps_with_more)
	UNION ALL SELECT ifnull(h.began, -4611686018427387903), h.ended FROM hidden_waits h WHERE h.app_id IS NULL AND EXISTS (SELECT 1 FROM apps_with_more)),
-- the joins below go through the large tables and look for the app of each row: SQLite would make an index of the large table for a single app
any_more AS MATERIALIZED (SELECT 1 FROM apps_with_more LIMIT 1),
-- without a loss, the parts below use none of these executions
losses_matter AS MATERIALIZED (SELECT 1 FROM hides WHERE NOT executions AND EXISTS (SELECT 1 FROM loss)),
-- executions of which not all was recorded: each waited, and had lanes, within its time
partial AS MATERIALIZED (
	SELECT x.id, x.app_id, coalesce(x.enqueued, x.decoded, x.request_read, x.submitted, -4611686018427387903) AS began,
		coalesce(x.run_ended, x.signalled, iif(x.path <> 'fenced', coalesce(x.result_written, x.result_read, iif(x.status = 'NONE', x.returned, NULL)), NULL), 4611686018427387903) AS ended, k.rank
	FROM losses_matter CROSS JOIN any_more CROSS JOIN execution x CROSS JOIN apps_with_more a ON a.app_id IS x.app_id LEFT JOIN ranks k ON k.priority = x.priority
	WHERE NOT x.complete AND x.sides IS NOT 'client'),
-- rank: of the execution that waited; NULL: unknown
unseen AS MATERIALIZED (
	SELECT x.app_id, max(h.began, x.began) AS began, min(h.ended, x.ended) AS ended, x.id AS execution_id, x.rank
	FROM partial x JOIN holes h ON x.began < h.ended AND x.ended > h.began
	UNION ALL
	SELECT a.app_id, ifnull(h.began, -4611686018427387903), h.ended, h.execution_id, k.rank
	FROM any_more CROSS JOIN hidden_waits h CROSS JOIN apps_with_more a ON a.app_id = h.app_id LEFT JOIN execution x ON x.id = h.execution_id
		LEFT JOIN ranks k ON k.priority = x.priority),
unseen_lanes AS MATERIALIZED (
	SELECT began, ended,
		-- may executions of which no event tells have had the lane?
		(SELECT executions FROM hides) OR NOT EXISTS (SELECT 1 FROM loss)
			OR EXISTS (SELECT 1 FROM strangers h WHERE ifnull(h.began < u.ended, 1) AND h.ended > u.began) AS any_had
	FROM (SELECT ifnull(began, -4611686018427387903) AS began, ended FROM hidden_lanes
		WHERE execution_id IS NULL AND ended - ifnull(began, @began@ - 1000000000) > (SELECT ns FROM least)) u),
-- those of them that no other one covers, which is all it takes for the longest overlap: 64 lanes may all be unseen for as long
longest_lanes AS MATERIALIZED (
	SELECT began, ended, any_had
	FROM (SELECT began, ended, any_had,
			max(ended) OVER (PARTITION BY any_had ORDER BY began, ended DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered
		FROM unseen_lanes)
	WHERE covered IS NULL OR ended > covered),
-- who may have had a lane: around a hole, and in one, where all that may have had it are known
unseen_holders AS (
	SELECT u.began, u.ended, u.execution_id FROM hidden_lanes u WHERE u.execution_id IS NOT NULL
	UNION ALL
	SELECT max(u.began, x.began), min(u.ended, x.ended), x.id
	FROM unseen_lanes u JOIN partial x ON x.began < u.ended AND x.ended > u.began WHERE NOT u.any_had),
-- with one lane, there is no other one that could have been held meanwhile
lanes_unknown AS MATERIALIZED (SELECT 1 FROM hidden_lanes WHERE execution_id IS NULL AND EXISTS (SELECT 1 FROM service_rules WHERE lanes > 1) LIMIT 1),
-- no limit is less: compare with this first, before each slice's execution is looked up
least_limit AS MATERIALIZED (SELECT @limit_floor@ + @slack@ AS ns),
slices_matter AS MATERIALIZED (
	SELECT 1 FROM any_more
	WHERE EXISTS (SELECT 1 FROM unseen) OR EXISTS (SELECT 1 FROM lanes_unknown) OR EXISTS (SELECT 1 FROM unseen_of_any) OR EXISTS (SELECT 1 FROM stretches t JOIN apps_with_more b ON b.app_id IS t.app_id WHERE NOT t.measured)),
long_slices AS MATERIALIZED (
	SELECT l.began, l.ended, h.app_id, @limit@ + @slack@ AS limit_ns, ifnull(s.measured, 0) AS measured, ifnull(k.rank, -1) AS rank, h.id AS execution_id
	FROM slices_matter CROSS JOIN least_limit f CROSS JOIN lane_slice l CROSS JOIN execution h ON h.id = l.execution_id CROSS JOIN apps_with_more a ON a.app_id IS h.app_id
		LEFT JOIN stretches s ON s.model_id = h.model_id LEFT JOIN ranks k ON k.priority = h.priority
	WHERE l.ended - l.began > f.ns AND ifnull(k.rank < a.most, 1) AND l.ended - l.began > @limit@ + @slack@
	UNION ALL -- the import tells no inversion of these
	SELECT u.began, u.ended, h.app_id, @limit@ + @slack@, 0, ifnull(k.rank, -1), h.id
	FROM unseen_holders u CROSS JOIN execution h ON h.id = u.execution_id CROSS JOIN apps_with_more a ON a.app_id IS h.app_id
		LEFT JOIN stretches s ON s.model_id = h.model_id LEFT JOIN ranks k ON k.priority = h.priority
	WHERE ifnull(k.rank < a.most, 1) AND u.ended - u.began > @limit@ + @slack@),
waiting AS (
	SELECT coalesce(x.enqueued, x.decoded, x.request_read, x.submitted, -4611686018427387903) AS began, coalesce(x.run_ended, iif(x.path <> 'fenced', x.result_written, NULL), 4611686018427387903) AS ended,
		ifnull(x.queue_ns + x.preempted_ns, 9223372036854775807) AS ns, x.app_id, ifnull(k.rank, 2) AS rank, x.id AS execution_id
	FROM any_more CROSS JOIN execution x CROSS JOIN apps_with_more a ON a.app_id IS x.app_id LEFT JOIN ranks k ON k.priority = x.priority
	WHERE (EXISTS (SELECT 1 FROM unseen_lanes) OR EXISTS (SELECT 1 FROM long_slices WHERE NOT measured)) AND x.sides IS NOT 'client'),
-- what may have waited: for ns at most
waited AS MATERIALIZED (
	SELECT began, ended, 9223372036854775807 AS ns, app_id, rank, execution_id, 1 AS hidden FROM unseen
	UNION ALL SELECT began, ended, ns, app_id, rank, execution_id, 0 FROM waiting
	UNION ALL -- who waits may be more urgent than who has a lane, or not; what it may have waited unseen is among the hidden waits
	SELECT t.began, t.ended, 9223372036854775807, x.app_id, NULL, x.id, 1 FROM execution x CROSS JOIN wait t ON t.execution_id = x.id
	WHERE EXISTS (SELECT 1 FROM referred WHERE priority IS NULL) AND x.priority IS NULL
		-- each of many may have waited behind each: only where there is what it may have waited for
		AND (EXISTS (SELECT 1 FROM unseen_lanes) OR EXISTS (SELECT 1 FROM long_slices l WHERE l.app_id IS x.app_id))
	UNION ALL -- the lane that it waited for may have been free for it, or not: the import tells an inversion up to then only
	SELECT min(t.began), max(t.ended), 9223372036854775807, x.app_id, k.rank, x.id, 1
	FROM ( -- of waits as of a wait_run, without a row for each of its pairs
			SELECT execution_id, began, ended, occupancy = 'unknown' AS is_unknown FROM wait_alone
			UNION ALL
			SELECT r.execution_id, max(r.began, (SELECT o.began FROM occupancy o WHERE o.id = r.first_id)), min(r.ended, (SELECT o.ended FROM occupancy o WHERE o.id = r.last_id)),
				EXISTS (SELECT 1 FROM occupancy o WHERE o.id BETWEEN r.first_id AND r.last_id AND o.occupancy = 'unknown')
			FROM wait_run r) t
		CROSS JOIN execution x ON x.id = t.execution_id LEFT JOIN ranks k ON k.priority = x.priority
	WHERE EXISTS (SELECT 1 FROM lanes_unknown) AND x.app_id IN (SELECT app_id FROM apps_with_more)
	GROUP BY x.id HAVING max(t.is_unknown)),
inverted_unseen AS (
	-- the import tells inversions of models whose steps were measured, as far as waits were recorded
	SELECT min(min(w.ended, l.ended) - max(w.began, l.began), w.ns) AS ns FROM waited w JOIN long_slices l ON l.app_id IS w.app_id
	WHERE ifnull(l.rank < w.rank, 1) AND (w.hidden OR NOT l.measured) AND w.execution_id IS NOT l.execution_id
		AND min(min(w.ended, l.ended) - max(w.began, l.began), w.ns) > l.limit_ns
	UNION ALL
	SELECT min(min(w.ended, l.ended) - max(w.began, l.began), w.ns) FROM waited w JOIN longest_lanes l ON l.began < w.ended AND l.ended > w.began
		AND l.any_had AND ifnull(w.rank > 0, 1) -- nothing is less urgent than low
	UNION ALL
	SELECT min(w.ended, l.ended) - max(w.began, l.began) FROM unseen_of_any w JOIN long_slices l
	WHERE min(w.ended, l.ended) - max(w.began, l.began) > l.limit_ns
	UNION ALL
	SELECT min(w.ended, l.ended) - max(w.began, l.began) FROM unseen_of_any w JOIN longest_lanes l ON l.began < w.ended AND l.ended > w.began
	UNION ALL SELECT 9223372036854775807 FROM referred WHERE app_id IS NULL),
@unseen_work@
