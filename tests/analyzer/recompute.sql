-- recompute.sql -- the figures of a recording, made of nothing but the events that babeltrace2 prints (tests/e2e/event_rows.awk): what
-- docs/events.md and docs/figures.md say, once more, in SQL, and without the analyzer. The file rows has the events. Times are the raw
-- clock's. Numbers of executions are text, because they have 64 bits and no sign.
--
-- A boundary that was not recorded is NULL, and so is every figure that needs it.
CREATE TABLE row(ts INTEGER, name TEXT, cpu INTEGER, exec TEXT, lane TEXT, status TEXT, path TEXT, deadline_ns TEXT, hit TEXT, look TEXT,
	queue TEXT, other TEXT, app TEXT, stream TEXT, priority TEXT, mode TEXT);
.mode tabs
.import rows row

CREATE TABLE event AS
SELECT ts, name, cpu, nullif(nullif(exec, ''), '0') AS exec, nullif(lane, '') AS lane, upper(nullif(status, '')) AS status, nullif(path, '') AS path,
       nullif(CAST(deadline_ns AS INTEGER), 0) AS deadline, hit, look, queue, other, nullif(app, '') AS app, stream,
       instr('low medium high', nullif(priority, '')) AS priority, -- a higher priority is a larger number
       mode
FROM row ORDER BY row.rowid;
DROP TABLE row;
CREATE INDEX event_of ON event(exec, ts);

-- From each event that puts an execution onto a lane, or off it, to the next one.
CREATE TABLE step AS
SELECT exec, name, ts AS began, lead(ts) OVER w AS ended, mode, CAST(lane AS INTEGER) AS lane, CAST(lead(lane) OVER w AS INTEGER) AS next_lane,
       lead(name) OVER w AS next_name
FROM event WHERE name IN ('sched_enqueue', 'sched_dispatch', 'sched_preempt', 'sched_resume', 'exec_end')
WINDOW w AS (PARTITION BY exec ORDER BY ts, event.rowid);

CREATE TABLE slice AS
SELECT exec, lane, began, ended FROM step
WHERE name IN ('sched_dispatch', 'sched_resume') AND next_name IN ('sched_preempt', 'exec_end');
CREATE INDEX slice_on ON slice(lane, began);

-- A wait is charged to the lane that it ends on, and to lane 0 if the execution is given up. From ready on it is one: not while the execution is stalled.
CREATE TABLE pause AS
SELECT exec, iif(name = 'sched_enqueue', 'queue', 'preempted') AS kind, began, ended, iif(next_name = 'exec_end', 0, next_lane) AS lane,
       iif(mode IN ('stalled', 'no_cpu'), (SELECT min(e.ts) FROM event e WHERE e.exec = step.exec AND e.name = 'sched_ready' AND e.ts BETWEEN step.began AND step.ended), began) AS ready
FROM step WHERE name IN ('sched_enqueue', 'sched_preempt') AND next_name IN ('sched_dispatch', 'sched_resume', 'exec_end');
CREATE INDEX pause_of ON pause(exec);

CREATE TABLE figure AS
WITH boundary AS (
	SELECT exec, min(stream) AS stream,
	       min(ts) FILTER (WHERE name = 'exec_submit') AS submitted,
	       min(ts) FILTER (WHERE name = 'fmq_write' AND queue IN ('request', 'call_request')) AS request_written,
	       min(ts) FILTER (WHERE name = 'fmq_read' AND queue IN ('request', 'call_request')) AS request_read,
	       min(ts) FILTER (WHERE name = 'fence_wait') AS fenced,
	       min(ts) FILTER (WHERE name = 'sched_enqueue') AS enqueued,
	       min(ts) FILTER (WHERE name = 'sched_dispatch') AS dispatched,
	       min(ts) FILTER (WHERE name = 'exec_end') AS run_ended,
	       min(ts) FILTER (WHERE name = 'fmq_write' AND queue IN ('result', 'call_result')) AS result_written,
	       min(ts) FILTER (WHERE name = 'fmq_read' AND queue IN ('result', 'call_result')) AS result_read,
	       min(ts) FILTER (WHERE name = 'exec_return') AS returned,
	       min(ts) FILTER (WHERE name = 'fence_signal') AS signalled,
	       min(status) FILTER (WHERE name = 'exec_end') AS end_status,
	       min(status) FILTER (WHERE name = 'fence_signal') AS signal_status,
	       min(status) FILTER (WHERE name = 'exec_return') AS return_status,
	       -- The service's deadline is the earlier one of the app's deadline and the duration.
	       coalesce(min(deadline) FILTER (WHERE name IN ('sched_enqueue', 'deadline_miss')), min(deadline)) AS deadline,
	       min(app) FILTER (WHERE name = 'sched_enqueue') AS app,
	       min(priority) FILTER (WHERE name = 'sched_enqueue') AS priority,
	       count(*) FILTER (WHERE name = 'slot_lookup' AND look = 'first') AS lookups,
	       count(*) FILTER (WHERE name = 'slot_lookup' AND look = 'first' AND hit = '0') AS misses,
	       count(*) FILTER (WHERE name = 'sched_preempt') AS preemptions
	FROM event WHERE exec IS NOT NULL GROUP BY exec),
path AS (SELECT stream, min(path) AS path FROM event WHERE path IS NOT NULL GROUP BY stream),
lanes AS (SELECT exec, sum(ended - began) AS ns FROM slice GROUP BY exec),
pauses AS (SELECT exec, sum(iif(kind = 'queue', ended - began, 0)) AS queue_ns, sum(iif(kind = 'preempted', ended - began, 0)) AS preempted_ns
           FROM pause GROUP BY exec),
-- A client's call may fail before the service has answered: then the service goes on with it.
left AS (
	SELECT exec, path, return_status IS NOT 'NONE' AND ifnull(returned < result_written, result_read IS NULL) AND ifnull(request_written, request_read) IS NOT NULL
	         AND NOT (path IS 'fenced' AND fenced IS NOT NULL) AND path IS NOT 'prepare' AND returned IS NOT NULL AS was_left
	FROM boundary LEFT JOIN path USING (stream)),
ends AS (
	SELECT b.*, p.path, p.was_left,
	       -- A fenced execution returns when it is launched, and ends when it is signalled.
	       iif(p.path = 'fenced', signalled, coalesce(returned, result_written)) AS ended,
	       iif(was_left, return_status, coalesce(end_status, signal_status, iif(p.path = 'fenced', NULL, return_status))) AS status
	FROM boundary b JOIN left p USING (exec))
SELECT e.*, l.ns AS run_ns, w.queue_ns, w.preempted_ns,
       iif(was_left, result_written, coalesce(signalled, returned)) - submitted AS e2e_ns,
       coalesce(signalled, result_written) - request_read AS service_ns,
       returned - submitted AS client_ns,
       -- Whether there was a deadline the first events of an execution tell.
       iif(deadline IS NULL AND submitted IS NULL AND enqueued IS NULL, NULL, deadline IS NOT NULL)
         AND (status LIKE 'MISSED%' OR (status = 'NONE' OR was_left) AND ended > deadline) AS missed
FROM ends e LEFT JOIN lanes l USING (exec) LEFT JOIN pauses w USING (exec);
CREATE UNIQUE INDEX figure_of ON figure(exec);

-- Each execution that became ready within a wait of another one and had its first lane before that wait ended. One that was ready before the other one lost its
-- lane, as the one that took it was, bypasses nothing: docs/figures.md, bypassed. There is no row for executions that were not seen from enqueue to end.
CREATE TABLE bypass AS
WITH ready AS MATERIALIZED (SELECT exec, app, priority, enqueued, dispatched FROM figure WHERE dispatched IS NOT NULL)
SELECT x.exec, p.began, b.exec AS by
FROM pause p JOIN figure x USING (exec)
JOIN ready b ON b.enqueued > p.ready AND b.dispatched BETWEEN p.ready AND p.ended AND b.exec <> x.exec AND (b.app <> x.app OR b.priority <= x.priority);
CREATE INDEX bypass_of ON bypass(exec);
