-- export_queue: one row per stretch in which an execution was ready and had no lane, in the order of their beginnings: before it got a lane, and while
-- it was preempted. An execution that is given up while it is preempted does not resume: its wait ends then.
SELECT stream_id, enqueued AS began, enqueued + queue_ns AS ended
FROM execution
WHERE queue_ns > 0 AND enqueued IS NOT NULL
UNION ALL
SELECT (SELECT x.stream_id FROM execution x WHERE x.id = p.execution_id), p.stopped, p.back
FROM (SELECT execution_id, stopped,
    coalesce(resumed, (SELECT max(w.ended) FROM wait w WHERE w.execution_id = preemption.execution_id AND w.kind = 'preempted')) AS back
  FROM preemption) p
WHERE p.back > p.stopped
ORDER BY 2
