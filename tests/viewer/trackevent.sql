-- trackevent.sql: compare what trackevent.py read from a trace with the database of the trace (d). Each printed row is
-- a violation. The queries share nothing with those of the export.
CREATE TEMP TABLE off AS SELECT min(clock_offset) AS ns, min(began) AS began, max(ended) AS ended FROM d.trace;

CREATE TEMP TABLE slice AS SELECT e.id, e.began + o.ns AS began, e.ended + o.ns AS ended, e.name, e.cats, e.parent, e.top, e.track, e.type
	FROM event e, off o;
CREATE INDEX temp.slice_id ON slice(id);
CREATE TEMP TABLE of_execution AS SELECT s.id AS event, a.value AS id FROM slice s JOIN arg a ON a.event = s.id AND a.name = 'id' WHERE s.cats = 'execution';
CREATE INDEX temp.of_execution_event ON of_execution(event);
CREATE TEMP TABLE x AS SELECT *, min(ifnull(submitted, 1 << 62), ifnull(request_written, 1 << 62), ifnull(request_read, 1 << 62),
		ifnull(decoded, 1 << 62), ifnull(fenced, 1 << 62), ifnull(enqueued, 1 << 62), ifnull(dispatched, 1 << 62),
		ifnull(run_ended, 1 << 62), ifnull(result_written, 1 << 62), ifnull(result_read, 1 << 62), ifnull(returned, 1 << 62),
		ifnull(signalled, 1 << 62)) AS first,
	max(ifnull(submitted, 0), ifnull(request_written, 0), ifnull(request_read, 0), ifnull(decoded, 0), ifnull(fenced, 0),
		ifnull(enqueued, 0), ifnull(dispatched, 0), ifnull(run_ended, 0), ifnull(result_written, 0), ifnull(result_read, 0),
		ifnull(returned, 0), ifnull(signalled, 0)) AS last FROM d.execution;
-- an execution without any recorded boundary is drawn at its miss or its deadline, or else where the recording begins
UPDATE x SET (first, last) = (SELECT ifnull(coalesce(missed_at, deadline), o.began), ifnull(coalesce(missed_at, deadline), o.began) FROM off o) WHERE first = 1 << 62;
CREATE TEMP TABLE w AS SELECT * FROM d.wait;

-- executions
SELECT 'execution missing', id FROM x WHERE id NOT IN (SELECT id FROM of_execution);
SELECT 'execution not there, or twice', id, count(*) FROM of_execution GROUP BY id HAVING count(*) > 1 OR id NOT IN (SELECT id FROM x);
SELECT 'execution at another time', x.id, s.began - x.first, s.ended - x.last FROM of_execution o JOIN slice s ON s.id = o.event JOIN x ON x.id = o.id
	WHERE s.parent IS NOT NULL OR s.began <> min(x.first, ifnull((SELECT min(began) FROM w WHERE w.execution_id = x.id AND (x.queue_ns IS NULL OR x.run_ended IS NULL)), x.first))
		OR s.ended <> max(x.last, ifnull((SELECT max(ended) FROM w WHERE w.execution_id = x.id AND (x.queue_ns IS NULL OR x.run_ended IS NULL)), x.last));
SELECT 'execution of another model or app', x.id, s.name, t.name, p.name FROM of_execution o JOIN slice s ON s.id = o.event JOIN x ON x.id = o.id
	JOIN track t ON t.uuid = s.track JOIN track p ON p.uuid = t.parent LEFT JOIN d.model m ON m.id = x.model_id LEFT JOIN d.app a ON a.id = x.app_id
	JOIN d.stream st ON st.id = x.stream_id
	WHERE s.name IS NOT coalesce(nullif(m.name, ''), s.name) OR t.name <> st.path || ' ' || st.number OR instr(p.name, ifnull(nullif(a.name, ''), p.name)) <> 1;
SELECT 'argument of execution', x.id, a.name, a.value FROM of_execution o JOIN x ON x.id = o.id JOIN arg a ON a.event = o.event
	WHERE a.value IS NOT CASE a.name WHEN 'id' THEN x.id WHEN 'seq' THEN x.seq WHEN 'priority' THEN x.priority WHEN 'status' THEN x.status
		WHEN 'quality' THEN x.quality WHEN 'sides' THEN x.sides WHEN 'cold' THEN x.cold WHEN 'fallback' THEN x.fallback
		WHEN 'redo_ns' THEN x.redo_ns WHEN 'cpu_ns' THEN x.cpu_ns END;

-- phases
CREATE TEMP TABLE phase AS SELECT o.id AS execution_id, s.name, s.began, s.ended, s.id, s.cats FROM slice s JOIN of_execution o ON o.event = s.parent
	WHERE s.cats LIKE 'phase%';
CREATE INDEX temp.phase_of ON phase(execution_id, name);
CREATE TEMP TABLE wanted AS SELECT execution_id, phase, began, dur_ns FROM d.execution_phase;
SELECT 'phase missing', * FROM (SELECT execution_id, phase, began, began + dur_ns FROM wanted WHERE dur_ns > 0 AND phase NOT IN ('run', 'preempted')
	EXCEPT SELECT execution_id, name, began, ended FROM phase);
CREATE INDEX temp.wanted_of ON wanted(execution_id, phase);
SELECT 'phase not there, or twice', execution_id, name, count(*) FROM phase WHERE name NOT IN ('run', 'preempted') GROUP BY execution_id, name
	HAVING count(*) > 1 OR NOT EXISTS (SELECT 1 FROM wanted p WHERE p.execution_id = phase.execution_id AND p.phase = phase.name);
SELECT 'time on lanes', x.id, sum(iif(p.name = 'run', ended - began, 0)) AS ran, sum(iif(p.name = 'preempted', ended - began, 0)) AS off, x.run_ns, x.preempted_ns
	FROM x JOIN phase p ON p.execution_id = x.id WHERE x.complete GROUP BY x.id HAVING ran <> x.run_ns OR off <> x.preempted_ns;

-- waits
CREATE TEMP TABLE waited AS SELECT o.id AS execution_id, s.began, s.ended, (SELECT value FROM arg a WHERE a.event = s.id AND a.name = 'cause') AS cause,
	(SELECT value FROM arg a WHERE a.event = s.id AND a.name = 'occupancy') AS occupancy,
	(SELECT value FROM arg a WHERE a.event = s.id AND a.name = 'blocker_id') AS blocker_id, s.id
	FROM slice s JOIN of_execution o ON o.event = s.top WHERE ' ' || s.cats || ' ' LIKE '% wait %' AND s.type = 1;
SELECT 'wait missing, or another', execution_id, began, ended, cause, occupancy, blocker_id FROM (
	SELECT execution_id, began, ended, cause, occupancy, blocker_id FROM w EXCEPT SELECT execution_id, began, ended, cause, occupancy, blocker_id FROM waited);
SELECT 'waits', (SELECT count(*) FROM w), (SELECT count(*) FROM waited) WHERE (SELECT count(*) FROM w) <> (SELECT count(*) FROM waited);

-- lanes
CREATE TEMP TABLE lane AS SELECT (SELECT value FROM arg a WHERE a.event = s.id AND a.name = 'id') AS id, s.began, s.ended, t.name AS lane, s.name AS app, s.track, s.id AS event
	FROM slice s JOIN track t ON t.uuid = s.track WHERE s.cats = 'lane';
SELECT 'lane missing, or another', * FROM (SELECT execution_id, began, ended, 'lane ' || lane FROM d.lane_slice EXCEPT SELECT id, began, ended, lane FROM lane);
SELECT 'lanes', (SELECT count(*) FROM lane) WHERE (SELECT count(*) FROM lane) <> (SELECT count(*) FROM d.lane_slice);
SELECT 'lane slices nest', s.id FROM slice s WHERE s.cats = 'lane' AND s.parent IS NOT NULL;

-- misses and deadlines
CREATE TEMP TABLE mark AS SELECT s.id AS event, s.began AS at, s.name, (SELECT value FROM arg a WHERE a.event = s.id AND a.name = 'id') AS id
	FROM slice s WHERE s.cats IN ('miss', 'deadline');
SELECT 'miss missing', id FROM x WHERE miss IS NOT NULL AND (SELECT count(*) FROM mark m WHERE m.id = x.id AND m.name = 'missed') <> 1;
SELECT 'misses', count(*) FROM mark WHERE name = 'missed' HAVING count(*) <> (SELECT count(*) FROM x WHERE miss IS NOT NULL);
SELECT 'preparations', count(*) FROM mark WHERE name = 'preparation missed' HAVING count(*) <> (SELECT count(*) FROM d.deadline_miss WHERE execution_id IS NULL);
SELECT 'miss at another time', x.id FROM mark m JOIN x ON x.id = m.id WHERE m.name = 'missed' AND m.at <>
	CASE WHEN x.miss = 'predicted' THEN ifnull(x.missed_at, x.last) ELSE ifnull(x.deadline + x.lateness_ns, x.last) END;
SELECT 'argument of miss', x.id, a.name, a.value FROM mark m JOIN x ON x.id = m.id JOIN arg a ON a.event = m.event WHERE m.name = 'missed'
	AND a.value IS NOT CASE WHEN a.name = 'id' THEN x.id WHEN a.name = 'miss' THEN x.miss WHEN a.name = 'lateness_ns' THEN x.lateness_ns
		WHEN a.name = 'cause' THEN (SELECT c.cause FROM d.miss_cause c WHERE c.execution_id = x.id AND c.is_primary)
		WHEN a.name = 'culprit_id' THEN (SELECT c.culprit_execution_id FROM d.miss_cause c WHERE c.execution_id = x.id AND c.is_primary)
		WHEN a.name = 'culprit_app' THEN a.value
		ELSE (SELECT sum(c.late_ns) FROM d.miss_cause c WHERE c.execution_id = x.id AND 'late_ns: ' || c.cause = a.name) END;
SELECT 'ledger', m.id, sum(a.value) AS of, x.lateness_ns FROM mark m JOIN x ON x.id = m.id JOIN arg a ON a.event = m.event AND a.name LIKE 'late_ns: %'
	WHERE m.name = 'missed' AND x.lateness_ns IS NOT NULL GROUP BY m.id HAVING of <> x.lateness_ns;
SELECT 'deadline', x.id FROM x WHERE (SELECT count(*) FROM mark m WHERE m.id = x.id AND m.name = 'deadline' AND m.at = x.deadline) <> (x.deadline IS NOT NULL);
SELECT 'deadlines', count(*) FROM mark WHERE name = 'deadline' HAVING count(*) <> (SELECT count(deadline) FROM x);

-- losses and holes
CREATE TEMP TABLE lost AS SELECT s.began, s.ended, s.name, s.cats FROM slice s WHERE s.cats IN ('loss', 'hole') AND s.type = 1;
SELECT 'loss missing', * FROM (SELECT began, ended, cause FROM d.loss EXCEPT SELECT began, ended, name FROM lost WHERE cats = 'loss');
SELECT 'losses', count(*) FROM d.loss HAVING count(*) <> (SELECT count(*) FROM lost WHERE cats = 'loss');
SELECT 'hole missing', * FROM (SELECT ifnull(u.began, (SELECT min(ifnull(b.began, o.began), o.began) FROM d.id_block b, off o)), u.ended, 'lane ' || u.lane FROM d.unknown_lane u
	EXCEPT SELECT began, ended, name FROM lost WHERE cats = 'hole');
SELECT 'holes', count(*) FROM d.unknown_lane HAVING count(*) <> (SELECT count(*) FROM lost WHERE cats = 'hole');

-- counters: at each time the last reported values, of all services together, are the number of intervals around that
-- time
CREATE TEMP TABLE told AS SELECT at + o.ns AS at, t.name, value, row_number() OVER (PARTITION BY c.track, c.at ORDER BY c.n DESC) AS nth, t.parent
	FROM counter c JOIN track t ON t.uuid = c.track, off o;
CREATE TEMP TABLE queued AS SELECT enqueued AS began, enqueued + queue_ns AS ended FROM x WHERE queue_ns > 0
	UNION ALL SELECT stopped, resumed FROM d.preemption WHERE resumed > stopped
	UNION ALL SELECT p.stopped, max(w.ended) FROM d.preemption p JOIN d.wait w ON w.execution_id = p.execution_id AND w.kind = 'preempted' AND w.ended > p.stopped
		WHERE p.resumed IS NULL GROUP BY p.execution_id, p.stopped;
CREATE TEMP TABLE held AS SELECT began, ended FROM d.lane_slice;
-- a change of one counter changes the sum by the same
CREATE TEMP TABLE summed AS SELECT name, at, sum(change) OVER (PARTITION BY name ORDER BY at RANGE UNBOUNDED PRECEDING) AS value
	FROM (SELECT name, at, value - lag(value, 1, 0) OVER (PARTITION BY name, parent ORDER BY at) AS change FROM told WHERE nth = 1 AND name IN ('queue length', 'lanes held'));
SELECT 'queue length', at, value FROM summed WHERE name = 'queue length' AND value <> (SELECT count(*) FROM queued q WHERE q.began <= at AND q.ended > at);
SELECT 'lanes held', at, value FROM summed WHERE name = 'lanes held' AND value <> (SELECT count(*) FROM held h WHERE h.began <= at AND h.ended > at);
SELECT 'a change of the queue is missing', began FROM (SELECT began FROM queued UNION SELECT ended FROM queued) WHERE began NOT IN (SELECT at FROM told WHERE name = 'queue length');
SELECT 'a change of lanes is missing', began FROM (SELECT began FROM held UNION SELECT ended FROM held) WHERE began NOT IN (SELECT at FROM told WHERE name = 'lanes held');
-- the lag of a window, which begins with the recording at the earliest; 0 after the last of consecutive windows
CREATE TEMP TABLE lagged AS SELECT app_id, max(window_began, r.began) AS at, lag_ns AS value
	FROM d.app_lag, (SELECT min(min(ifnull(b.began, o.began), o.began)) AS began FROM d.id_block b, off o) r;
CREATE TEMP TABLE caught_up AS SELECT app_id, window_began + 100000000 AS at FROM d.app_lag l
	WHERE NOT EXISTS (SELECT 1 FROM d.app_lag n WHERE n.app_id = l.app_id AND n.window_began = l.window_began + 100000000);
SELECT 'lag', at, value FROM lagged WHERE (at, value) NOT IN (SELECT at, value FROM told WHERE name = 'lag');
SELECT 'lags', count(*) FROM told WHERE name = 'lag' HAVING count(*) <> (SELECT count(*) FROM lagged) + (SELECT count(*) FROM caught_up);
SELECT 'no 0 after a lag', at FROM caught_up WHERE at NOT IN (SELECT at FROM told WHERE name = 'lag' AND value = 0)
	AND at < (SELECT max(at) FROM told);

-- flows: from an execution over its lanes to its answer, and from a wait to the execution on the lane then
SELECT 'flow with one end', id FROM flow GROUP BY id HAVING count(*) < 2 AND max(event) NOT IN (SELECT event FROM of_execution);
SELECT 'flow that goes on after its end', f.id FROM flow f JOIN flow g ON g.id = f.id AND (g.at < f.at OR (g.at = f.at AND g.event < f.event)) WHERE g.ends;
SELECT 'execution without its flow to a lane', l.id FROM lane l JOIN of_execution o ON o.id = l.id WHERE NOT EXISTS (
	SELECT 1 FROM flow f JOIN flow g ON g.id = f.id WHERE f.event = l.event AND g.event = o.event AND g.at <= f.at);
SELECT 'execution without its flow to the answer', x.id FROM x JOIN of_execution o ON o.id = x.id WHERE x.complete AND (x.reply_ns > 0 OR x.signal_ns > 0) AND NOT EXISTS (
	SELECT 1 FROM flow f JOIN flow g ON g.id = f.id JOIN phase p ON p.id = g.event WHERE f.event = o.event AND g.ends AND p.name IN ('reply', 'signal'));
SELECT 'wait without its holder', v.execution_id, v.began, v.blocker_id FROM waited v WHERE v.blocker_id IS NOT NULL AND NOT EXISTS (
	SELECT 1 FROM flow f JOIN flow g ON g.id = f.id AND g.ends JOIN slice i ON i.id = g.event WHERE f.event = v.id AND NOT f.ends AND i.cats = 'holder' AND i.began = v.began);
SELECT 'holder on a lane that another one has', i.id, i.began FROM slice i JOIN arg a ON a.event = i.id AND a.name = 'id' WHERE i.cats = 'holder'
	AND EXISTS (SELECT 1 FROM lane l WHERE l.track = i.track AND l.began <= i.began AND l.ended > i.began AND l.id <> a.value);
SELECT 'holder that is not in its slice', i.id, i.began FROM slice i JOIN arg a ON a.event = i.id AND a.name = 'id' WHERE i.cats = 'holder'
	AND EXISTS (SELECT 1 FROM lane l WHERE l.track = i.track AND l.began <= i.began AND l.ended > i.began AND l.id = a.value AND i.parent IS NOT l.event);

-- clocks
SELECT 'clock', c.id, c.at FROM clock c WHERE c.is_primary AND c.id NOT IN (3, 6);
SELECT 'realtime', r.at - m.at FROM clock r JOIN clock m ON m.id = 3, off o WHERE r.id = 1 AND r.at - m.at <> o.ns;
