-- gain_samples: one row per warm burst execution or synchronous execution of models @kinds@, with its phases, in the order of recording. Leaves out
-- executions that are incomplete or were not answered.
@with@, same(id, kind) AS MATERIALIZED (SELECT id, min(id) OVER (PARTITION BY app_id, name) FROM model)
SELECT s.kind, p.path = 'sync' AS is_sync, p.e2e_ns, p.prepare_ns, p.send_ns, p.decode_ns, p.slots_ns, p.queue_ns, p.run_ns, p.preempted_ns,
  p.reply_ns, p.return_ns, p.finish_ns
FROM picked p CROSS JOIN same s ON s.id = p.model_id
WHERE s.kind IN (@kinds@) AND p.complete AND p.status = 'NONE' AND (p.path = 'sync' OR p.path = 'burst' AND NOT p.cold)
ORDER BY p.id
