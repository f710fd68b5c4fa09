-- whatif_calls: one row per execution, in the order in which they began, as early as that was observed.
SELECT model_id, path, priority, coalesce(submitted, request_read, enqueued, dispatched) AS began, returned, signalled, deadline, decoded, enqueued,
  dispatched, run_ended, run_ns, redo_ns, status, miss, floor_ns, quality = 'complete', missed_at, run_delay_ns
FROM execution
ORDER BY began, id
