-- recomputed.sql -- a database, and attached as truth the figures of its recording, which recompute.sql made: one row for each thing that
-- the database says of an execution and that is not so. This holds of every recording, and of every recording with holes that was cut out of
-- it: what is not known may be left out, or NULL, or less than it was.
CREATE TEMP TABLE said AS
SELECT e.*, printf('%u', e.exec) AS number, t.clock_offset AS zero, e.quality = 'complete' AS known FROM execution e JOIN trace t ON t.id = e.trace_id;
CREATE TEMP TABLE both AS
SELECT s.number, s.path, s.sides, s.known, f.*, s.submitted - zero AS s_submitted, s.request_written - zero AS s_request_written, s.request_read - zero AS s_request_read,
       s.fenced - zero AS s_fenced, s.enqueued - zero AS s_enqueued, s.dispatched - zero AS s_dispatched, s.run_ended - zero AS s_run_ended,
       s.result_written - zero AS s_result_written, s.result_read - zero AS s_result_read, s.returned - zero AS s_returned, s.signalled - zero AS s_signalled,
       s.deadline - zero AS s_deadline, s.status AS s_status, s.miss, s.e2e_ns AS s_e2e_ns, s.run_ns AS s_run_ns, s.queue_ns AS s_queue_ns,
       s.preempted_ns AS s_preempted_ns, s.slot_lookups, s.slot_misses, s.preemptions AS s_preemptions
FROM said s JOIN truth.figure f ON f.exec = s.number;

SELECT 'every execution happened' AS rule, number AS id, path || ' ' || quality AS detail FROM said
WHERE number NOT IN (SELECT exec FROM truth.figure) AND number NOT IN (SELECT other FROM truth.event WHERE other <> '')
UNION ALL
SELECT 'the boundaries of a complete execution are its events on the client''s side', number, path FROM both
WHERE known AND sides <> 'service' AND (s_submitted, s_request_written, s_returned) IS NOT (submitted, request_written, returned)
UNION ALL
SELECT 'the boundaries of a complete execution are its events on the service''s side', number, path FROM both
WHERE known AND sides <> 'client' AND (s_request_read, s_enqueued, s_dispatched, s_run_ended) IS NOT (request_read, enqueued, dispatched, run_ended)
UNION ALL
SELECT 'the answer of a complete execution was written and read then', number, path FROM both
WHERE known AND path <> 'fenced' AND (sides <> 'client' AND s_result_written IS NOT result_written OR sides <> 'service' AND s_result_read IS NOT result_read)
UNION ALL
SELECT 'the fences of a complete execution were signalled then', number, path FROM both
WHERE known AND path = 'fenced' AND sides <> 'client' AND (s_fenced, s_signalled) IS NOT (fenced, signalled)
UNION ALL
SELECT 'a complete execution took that long from end to end', number, s_e2e_ns || ' ns, ' || sides FROM both
WHERE known AND path <> 'prepare' AND s_e2e_ns IS NOT CASE sides WHEN 'both' THEN e2e_ns WHEN 'service' THEN service_ns ELSE client_ns END
UNION ALL
SELECT 'a complete execution waited, ran and was preempted that long', number,
       ifnull(s_queue_ns, '-') || ' ' || ifnull(s_run_ns, '-') || ' ' || ifnull(s_preempted_ns, '-') || ' ns, not ' || ifnull(queue_ns, '-') || ' '
       || ifnull(run_ns, '-') || ' ' || ifnull(preempted_ns, '-')
FROM both WHERE known AND sides <> 'client'
  AND (ifnull(s_queue_ns, 0), ifnull(s_run_ns, 0), ifnull(s_preempted_ns, 0)) <> (ifnull(queue_ns, 0), ifnull(run_ns, 0), ifnull(preempted_ns, 0))
UNION ALL
SELECT 'a complete execution looked up and missed so many slots, and was preempted so often', number,
       ifnull(slot_lookups, '-') || ' ' || ifnull(slot_misses, '-') || ' ' || ifnull(s_preemptions, '-') || ', not ' || lookups || ' ' || misses || ' ' || preemptions
FROM both WHERE known AND sides <> 'client' AND path <> 'prepare' AND (slot_lookups, slot_misses, s_preemptions) IS NOT (lookups, misses, preemptions)
UNION ALL
SELECT 'no execution has more lookups, misses of slots or preemptions than it had', number,
       ifnull(slot_lookups, '-') || ' ' || ifnull(slot_misses, '-') || ' ' || ifnull(s_preemptions, '-') || ', not ' || lookups || ' ' || misses || ' ' || preemptions
FROM both WHERE slot_lookups > lookups OR slot_misses > misses OR s_preemptions > preemptions
UNION ALL
SELECT 'a status is the one that was told', number, s_status || ', not ' || status FROM both WHERE s_status <> status
UNION ALL
SELECT 'a deadline is the one that it had', number, ifnull(s_deadline, 'none') || ', not ' || ifnull(deadline, 'none') FROM both
WHERE s_deadline IS NOT deadline AND (known OR s_deadline IS NOT NULL) AND path <> 'prepare'
UNION ALL
SELECT 'a deadline that is said to be missed was missed', number, miss FROM both WHERE miss IS NOT NULL AND NOT missed
UNION ALL
-- That the answer came in time the client alone knows, but of a fenced execution the service.
SELECT 'a deadline that is not said to be missed was met', number, s_status FROM both
WHERE known AND sides <> CASE path WHEN 'fenced' THEN 'client' ELSE 'service' END AND miss IS NULL AND missed;
