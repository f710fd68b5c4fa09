-- phases_picked: the time of each phase, one row per group of the picked executions and phase that took any time. share is of the time of all
-- executions of the group. Leaves out executions that are incomplete or were not answered. (LIMIT -1 is no limit: it makes SQLite sort fewer
-- columns.)
@with@, @kinds@,
grouped AS MATERIALIZED (
  SELECT key, min(id) AS id, total(e2e_ns) AS whole_ns,
    count(prepare_ns) AS n_prepare, total(prepare_ns) AS sum_prepare, percentile(prepare_ns, 50) AS p50_prepare,
    count(send_ns) AS n_send, total(send_ns) AS sum_send, percentile(send_ns, 50) AS p50_send,
    count(decode_ns) AS n_decode, total(decode_ns) AS sum_decode, percentile(decode_ns, 50) AS p50_decode,
    count(fence_ns) AS n_fence, total(fence_ns) AS sum_fence, percentile(fence_ns, 50) AS p50_fence,
    count(slots_ns) AS n_slots, total(slots_ns) AS sum_slots, percentile(slots_ns, 50) AS p50_slots,
    count(queue_ns) AS n_queue, total(queue_ns) AS sum_queue, percentile(queue_ns, 50) AS p50_queue,
    count(run_ns) AS n_run, total(run_ns) AS sum_run, percentile(run_ns, 50) AS p50_run,
    count(preempted_ns) AS n_preempted, total(preempted_ns) AS sum_preempted, percentile(preempted_ns, 50) AS p50_preempted,
    count(reply_ns) AS n_reply, total(reply_ns) AS sum_reply, percentile(reply_ns, 50) AS p50_reply,
    count(return_ns) AS n_return, total(return_ns) AS sum_return, percentile(return_ns, 50) AS p50_return,
    count(finish_ns) AS n_finish, total(finish_ns) AS sum_finish, percentile(finish_ns, 50) AS p50_finish,
    count(signal_ns) AS n_signal, total(signal_ns) AS sum_signal, percentile(signal_ns, 50) AS p50_signal
  FROM (SELECT @key@ AS key, p.id, p.e2e_ns,
      p.prepare_ns, p.send_ns, p.decode_ns, p.fence_ns, p.slots_ns, p.queue_ns,
      p.run_ns, p.preempted_ns, p.reply_ns, p.return_ns, p.finish_ns, p.signal_ns
    FROM picked p LEFT JOIN kinds k ON k.id = p.model_id
    WHERE @only@p.complete AND p.status = 'NONE' AND p.e2e_ns IS NOT NULL LIMIT -1)
  GROUP BY key),
phases(nth, phase) AS (VALUES (0, 'prepare'), (1, 'send'), (2, 'decode'), (3, 'fence'), (4, 'slots'), (5, 'queue'),
  (6, 'run'), (7, 'preempted'), (8, 'reply'), (9, 'return'), (10, 'finish'), (11, 'signal')),
each AS (
  SELECT id, nth, phase, whole_ns,
    CASE nth WHEN 0 THEN n_prepare WHEN 1 THEN n_send WHEN 2 THEN n_decode WHEN 3 THEN n_fence
      WHEN 4 THEN n_slots WHEN 5 THEN n_queue WHEN 6 THEN n_run WHEN 7 THEN n_preempted
      WHEN 8 THEN n_reply WHEN 9 THEN n_return WHEN 10 THEN n_finish WHEN 11 THEN n_signal END AS n,
    CASE nth WHEN 0 THEN sum_prepare WHEN 1 THEN sum_send WHEN 2 THEN sum_decode WHEN 3 THEN sum_fence
      WHEN 4 THEN sum_slots WHEN 5 THEN sum_queue WHEN 6 THEN sum_run WHEN 7 THEN sum_preempted
      WHEN 8 THEN sum_reply WHEN 9 THEN sum_return WHEN 10 THEN sum_finish WHEN 11 THEN sum_signal END AS sum_ns,
    CASE nth WHEN 0 THEN p50_prepare WHEN 1 THEN p50_send WHEN 2 THEN p50_decode WHEN 3 THEN p50_fence
      WHEN 4 THEN p50_slots WHEN 5 THEN p50_queue WHEN 6 THEN p50_run WHEN 7 THEN p50_preempted
      WHEN 8 THEN p50_reply WHEN 9 THEN p50_return WHEN 10 THEN p50_finish WHEN 11 THEN p50_signal END AS p50_ns
  FROM grouped CROSS JOIN phases)
SELECT @keys@, g.phase, g.n, g.p50_ns, 100 * g.sum_ns / g.whole_ns AS share_percent
FROM each g CROSS JOIN execution x ON x.id = g.id LEFT JOIN apps a ON a.id = x.app_id LEFT JOIN kinds k ON k.id = x.model_id
  LEFT JOIN burst b ON b.id = x.burst_id
WHERE g.sum_ns > 0 ORDER BY @order@, g.nth
