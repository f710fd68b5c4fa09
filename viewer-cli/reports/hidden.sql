-- hidden: statements that make temporary tables: waits and lanes that may have existed in the asked time and were not recorded. An execution seen from
-- the client alone is such a wait, from its request to its answer. holes: losses, merged where they touch. hidden_waits: possible waits, and waits with
-- an unrecorded beginning (began NULL). strangers: those of the possible waits of which no execution is known. hides, strange and sight: one row each.
-- Temporary, because a recording has up to as many such waits as executions, up to four verdicts ask for them, and SQLite compiles a part of a WITH
-- again wherever another part names it. A table that exists stays as it is: the asked time of a connection does not change.
CREATE TEMP TABLE IF NOT EXISTS reach AS
@with@ SELECT @from@ AS began, (@reach@) AS ended;
CREATE TEMP TABLE IF NOT EXISTS losses AS SELECT ifnull(began, @began@) AS began, ifnull(ended, @ended@) AS ended, events FROM loss;
CREATE TEMP TABLE IF NOT EXISTS holes AS
WITH losses_in_order AS (
	SELECT began, ended, max(ended) OVER (ORDER BY began, ended ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM losses),
losses_numbered AS (
	SELECT began, ended, sum(before IS NULL OR before < began) OVER (ORDER BY began, ended ROWS UNBOUNDED PRECEDING) AS hole FROM losses_in_order)
SELECT h.began, h.ended FROM (SELECT min(began) AS began, max(ended) AS ended FROM losses_numbered GROUP BY hole) h CROSS JOIN reach r
	WHERE h.ended >= r.began AND h.began < r.ended;
-- may holes hide executions of which no event tells that they became ready? (The services number them.)
CREATE TEMP TABLE IF NOT EXISTS hides AS
	SELECT NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unseen_executions' AND value = 0)
		OR NOT EXISTS (SELECT 1 FROM meta WHERE key = 'unseen_unknown' AND value = 0) AS executions;
-- if they hide none: is each execution, and each app, that a loss may have made wait, among those that are known?
CREATE TEMP TABLE IF NOT EXISTS all_known AS
	SELECT NOT executions AND EXISTS (SELECT 1 FROM loss) AND NOT EXISTS (SELECT 1 FROM meta WHERE key IN ('left_out_stragglers', 'left_out_evicted') AND value > 0) AS are
	FROM hides;
-- In that case only executions with missing events may have waited, each between its own first and last event: waits of nobody known are left out.
-- A client may give a call up while the service still has it, so only the return of a call that was answered well is an end.
CREATE TEMP TABLE IF NOT EXISTS stand_ins AS
	SELECT x.id AS execution_id, x.app_id, x.model_id, max(x.began, a.began) AS began, min(x.ended, a.ended) AS ended
	FROM (SELECT min(ifnull(began, @began@)) AS began, max(ended) AS ended FROM possible_wait WHERE execution_id IS NULL AND app_id IS NULL) a CROSS JOIN (SELECT id, app_id, model_id, coalesce(enqueued, decoded, request_read, request_written, submitted, @began@) AS began,
			coalesce(run_ended, signalled, iif(path <> 'fenced', coalesce(result_written, result_read, iif(status = 'NONE', returned, NULL)), NULL), @ended@) AS ended
		FROM (SELECT 1 FROM all_known WHERE are AND EXISTS (SELECT 1 FROM execution_count WHERE quality <> 'complete')
			AND EXISTS (SELECT 1 FROM possible_wait WHERE execution_id IS NULL AND app_id IS NULL)) CROSS JOIN execution
		WHERE NOT complete AND sides <> 'client') x CROSS JOIN reach r
	WHERE x.ended >= a.began AND x.began < a.ended AND x.ended >= r.began AND x.began < r.ended;
CREATE TEMP TABLE IF NOT EXISTS hidden_waits AS
@with@ SELECT p.execution_id, p.app_id, p.model_id, p.began, p.ended FROM possible_wait p CROSS JOIN reach r
	WHERE p.ended >= r.began AND ifnull(p.began < r.ended, 1)
		AND NOT (p.execution_id IS NULL AND p.app_id IS NULL AND (SELECT are FROM all_known)) AND (p.execution_id IS NULL OR @judged@)
	UNION ALL
	SELECT p.execution_id, p.app_id, p.model_id, p.began, p.ended FROM stand_ins p WHERE @judged@
	UNION ALL
	SELECT p.execution_id, x.app_id, x.model_id, NULL, p.ended
	-- first the question whether there are any: SQLite asks it again for each row of a large table if it is a condition
	FROM (SELECT 1 FROM execution_count WHERE quality IN ('head', 'gap') LIMIT 1) CROSS JOIN wait p CROSS JOIN execution x ON x.id = p.execution_id CROSS JOIN reach r
	WHERE p.open IN ('start', 'both')
		AND p.ended >= r.began AND p.began < r.ended AND @judged@
	UNION ALL -- its service was not heard: all but the client's own time may have been a wait, and whose app it is only the service says
	SELECT p.execution_id, NULL, p.model_id, p.began, p.ended
	FROM (SELECT id AS execution_id, model_id, coalesce(request_written, submitted) AS began,
			iif(path IS 'fenced' AND status IS NULL, @ended@, coalesce(result_read, returned, @ended@)) AS ended
		FROM (SELECT 1 FROM execution_count WHERE sides = 'client' LIMIT 1) CROSS JOIN execution WHERE sides = 'client') p CROSS JOIN reach r
	WHERE p.ended >= r.began AND p.began < r.ended AND @judged@;
CREATE TEMP TABLE IF NOT EXISTS strangers AS SELECT began, ended FROM hidden_waits WHERE execution_id IS NULL;
CREATE TEMP TABLE IF NOT EXISTS hidden_lanes AS
	SELECT u.instance, u.lane, u.began, u.ended, u.execution_id FROM unknown_lane u CROSS JOIN reach r
	WHERE u.ended >= r.began AND ifnull(u.began < r.ended, 1);
-- may losses hide work of a model of which no event was recorded? It takes @strange_executions@ executions and @strange_events@ events (judge.c).
CREATE TEMP TABLE IF NOT EXISTS strange AS
	SELECT (SELECT executions FROM hides) AND (SELECT count(*) > count(events) OR sum(events) >= @strange_events@ FROM losses)
		AND NOT EXISTS (SELECT 1 FROM meta u CROSS JOIN meta n
			WHERE u.key = 'unseen_unknown' AND u.value = 0 AND n.key = 'unseen_executions' AND n.value < @strange_executions@)
		AS work;
CREATE TEMP TABLE IF NOT EXISTS sight AS
@with@ SELECT (SELECT ifnull(sum(n), 0) FROM execution_count WHERE quality <> 'complete' OR sides = 'client') AS partly,
		EXISTS(SELECT 1 FROM picked WHERE coalesce(request_read, enqueued, dispatched, run_ended) IS NOT NULL) AS service, EXISTS(SELECT 1 FROM picked) AS executions,
		 EXISTS(SELECT 1 FROM loss) AS losses, EXISTS(SELECT 1 FROM service_rules WHERE policy = 'native') AS native,
		(SELECT max(ended - began) FROM holes) AS hole_ns, h.wait_ns,
		max(ifnull(h.unknown_ns, 0), ifnull((SELECT max(ifnull(ended - began, 9223372036854775807)) FROM stand_ins p WHERE @judged@), 0)) AS stranger_ns,
		(SELECT max(ifnull(ended - began, 9223372036854775807)) FROM hidden_lanes) AS lane_ns,
		-- the longest hole, or wait of an app that is not known, in which such work may have waited; 0: none
		CASE WHEN (SELECT work FROM strange) THEN max(ifnull((SELECT max(ended - began) FROM holes), 0), ifnull(h.nameless_ns, 0)) ELSE 0 END AS strange_ns
	FROM (SELECT max(ns) AS wait_ns, max(ns) FILTER (WHERE execution_id IS NULL OR app_id IS NULL) AS unknown_ns,
		max(ns) FILTER (WHERE execution_id IS NULL AND app_id IS NULL) AS nameless_ns
		FROM (SELECT execution_id, app_id, ifnull(ended - began, 9223372036854775807) AS ns FROM hidden_waits)) h;
