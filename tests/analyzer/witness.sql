-- witness.sql -- a database against what nnburst-load saw of the same run, which is attached as load: log, an execution a
-- row, and report, its JSON. One row for each violation.
--
-- The app reads its clock before it asks and after it has its answer, so the log's times are outside those of the trace. Where
-- a deadline is between the two ends, it was missed to one of them only: then either is right. Between the two clock readings
-- at either end is an event that is written, and a thread may lose its cpu there: which is why a fifth of them may be 100 us apart.
WITH
run AS (SELECT e.*, e.deadline - t.clock_offset AS raw_deadline, e.submitted - t.clock_offset AS raw_submitted,
               iif(e.path = 'fenced' AND e.signalled IS NOT NULL, e.signalled, e.returned) - t.clock_offset AS raw_end
        FROM execution e JOIN trace t ON t.id = e.trace_id),
both AS (SELECT r.*, l.submitted AS log_submitted, l.returned AS log_returned, l.status AS log_status, l.path AS log_path,
                r.raw_end <= r.raw_deadline AND r.raw_deadline < l.returned AS between_the_two
         FROM run r JOIN load.log l USING (exec)),
streams AS (SELECT app.value ->> 'known_as' AS key, s.value ->> 'model' AS model, s.value ->> 'priority' AS priority,
                   s.value ->> 'path' AS path, s.value ->> 'executions' AS executions, s.value ->> 'fallbacks' AS fallbacks,
                   s.value ->> 'told' AS told, s.value -> 'misses' AS misses
            FROM load.report, json_each(report, '$.apps') app, json_each(app.value, '$.streams') s),
reported AS (SELECT key, model, priority, path, sum(executions) AS executions, sum(fallbacks) AS fallbacks,
                    sum(iif(told, misses ->> 'late', 0)) AS late,
                    sum(iif(told, (misses ->> 'aborted') + (misses ->> 'predicted'), 0)) AS given_up
             FROM streams GROUP BY 1, 2, 3, 4),
stored AS (SELECT a.key, m.name AS model, b.priority, b.path, count(*) AS executions,
                  sum(ifnull(b.miss, '') = 'late') AS late, sum(ifnull(b.miss, '') IN ('aborted', 'predicted')) AS given_up,
                  sum(between_the_two IS TRUE AND b.status = 'NONE') AS either
           FROM both b JOIN app a ON a.id = b.app_id JOIN model m ON m.id = b.model_id GROUP BY 1, 2, 3, 4)

SELECT 'every execution of the log is in the database' AS rule, exec AS id, status AS detail FROM load.log
WHERE exec = 0 OR exec NOT IN (SELECT exec FROM execution)
UNION ALL
SELECT 'every execution of the database is in the log', exec, status FROM execution
WHERE path != 'prepare' AND exec NOT IN (SELECT exec FROM load.log)
UNION ALL
SELECT 'the status is the same', exec, status || ', in the log ' || log_status FROM both WHERE status != log_status
UNION ALL
SELECT 'the path is the same', exec, path || ', in the log ' || log_path FROM both
WHERE path != log_path AND NOT (fallback AND path = 'sync')
UNION ALL
SELECT 'it was within what its app saw', exec, log_submitted || ' ' || raw_submitted || ' ' || raw_end || ' ' || log_returned
FROM both WHERE (log_submitted <= raw_submitted AND raw_end <= log_returned) IS NOT TRUE
UNION ALL
SELECT 'it took as long as its app saw, but for two events', NULL, strays || ' of ' || n || ' are 100 us and more apart'
FROM (SELECT count(*) AS n, ifnull(sum((log_returned - log_submitted) - e2e_ns >= 100000), 0) AS strays FROM both
      WHERE path IN ('burst', 'sync')) -- others wait for another thread, too
WHERE strays * 5 > n
UNION ALL
SELECT 'it was late to both, or to none', exec, miss FROM both
WHERE status = 'NONE' AND deadline IS NOT NULL AND NOT between_the_two
  AND (miss IS 'late') != (log_returned > raw_deadline)
UNION ALL
SELECT 'who gave up a deadline said so', exec, status || ' ' || ifnull(miss, 'no miss') FROM both
WHERE (status LIKE 'MISSED_DEADLINE%') != (ifnull(miss, '') IN ('aborted', 'predicted'))
UNION ALL
SELECT 'the report counts as many executions and misses', r.key,
       r.model || ' ' || r.priority || ' ' || r.path || ': ' || ifnull(s.executions, 0) || ' ' || ifnull(s.late, 0) || ' '
       || ifnull(s.given_up, 0) || ', reported ' || r.executions || ' ' || r.late || ' ' || r.given_up
FROM reported r LEFT JOIN stored s USING (key, model, priority, path)
WHERE r.fallbacks = 0 AND (ifnull(s.executions, 0) != r.executions OR ifnull(s.given_up, 0) != r.given_up
   OR ifnull(s.late, 0) NOT BETWEEN r.late - ifnull(s.either, 0) AND r.late);
