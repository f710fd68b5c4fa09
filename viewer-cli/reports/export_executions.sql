-- export_executions: one row per picked execution, in the order of their ids: those that missed a deadline, and with :all the others, too.
@relations@
SELECT id, stream_id, seq, app_id, model_id, priority, path, status, miss, quality, sides, cold, fallback, deadline, lateness_ns, missed_at,
  preemptions, redo_ns, cpu_ns, submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, run_ended, result_written,
  result_read, returned, signalled, prepare_ns, send_ns, decode_ns, fence_ns, slots_ns, queue_ns, reply_ns, return_ns, finish_ns, signal_ns
FROM picked
WHERE :all OR miss IS NOT NULL
ORDER BY id
