-- metrics_executions: one row per picked execution that is no preparation: what the metrics count and measure of it.
@relations@
SELECT app_id, model_id, path, complete AND status IS 'NONE', complete, deadline IS NOT NULL, miss IS NOT NULL, (
@outcome_unknown@
), preemptions, slot_lookups, slot_misses, iif(sides = 'service', NULL, e2e_ns), prepare_ns, send_ns, decode_ns,
  CASE WHEN path = 'fenced' THEN fence_ns END, slots_ns, queue_ns, run_ns, preempted_ns, CASE WHEN path <> 'fenced' THEN reply_ns END,
  CASE WHEN path <> 'fenced' THEN return_ns END, CASE WHEN path <> 'fenced' THEN finish_ns END, CASE WHEN path = 'fenced' THEN signal_ns END,
  iif(sides = 'service', NULL, e2e_ns - (run_ns - redo_ns))
FROM picked
WHERE path IS NOT 'prepare'
