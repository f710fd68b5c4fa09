-- overhead_causes_picked: the overhead of the picked executions, one row per cause, the largest first, with the app that had most of it. Leaves out
-- executions that are incomplete or were not answered, and causes without overhead. (LIMIT -1 is no limit: it makes SQLite sort fewer columns.)
@with@, @kinds@,
waited AS MATERIALIZED ( -- where the lane was not idle
  SELECT execution_id AS id, CAST(total(ended - began) AS INTEGER) AS ns,
    CAST(total(iif(cause = 'queued_behind', ended - began, 0)) AS INTEGER) AS queued_behind,
    CAST(total(iif(cause = 'inversion', ended - began, 0)) AS INTEGER) AS inversion,
    CAST(total(iif(cause = 'crowded_out', ended - began, 0)) AS INTEGER) AS crowded_out,
    CAST(total(iif(cause = 'hogged', ended - began, 0)) AS INTEGER) AS hogged,
    CAST(total(iif(cause = 'preempted', ended - began, 0)) AS INTEGER) AS preempted,
    CAST(total(iif(cause = 'stalled', ended - began, 0)) AS INTEGER) AS stalled,
    CAST(total(iif(cause = 'machine_busy', ended - began, 0)) AS INTEGER) AS no_cpu,
    CAST(total(iif(cause = 'unknown', ended - began, 0)) AS INTEGER) AS unknown
  FROM wait WHERE occupancy <> 'idle' GROUP BY execution_id),
taken AS (
  SELECT p.id, ifnull(k.kind, -p.app_id) * 4 + CASE p.path WHEN 'burst' THEN 0 WHEN 'sync' THEN 1 WHEN 'fenced' THEN 2 ELSE 3 END AS key,
    CASE WHEN p.path <> 'burst' OR p.request_slept_ns > 0 THEN 2 WHEN p.request_slept_ns = 0 THEN 1 ELSE 0 END AS request,
    CASE WHEN p.path <> 'burst' OR p.result_slept_ns > 0 THEN 2 WHEN p.result_slept_ns = 0 THEN 1 ELSE 0 END AS result,
    ifnull(p.send_ns, 0) AS send_ns, ifnull(p.return_ns, 0) AS return_ns, ifnull(p.slots_ns, 0) AS slots_ns, iif(p.path IS 'burst', p.cold, 0) AS is_cold,
    ifnull(p.reply_ns, 0) AS reply_ns, ifnull(p.prepare_ns, 0) AS prepare_ns,
    ifnull(min(p.request_blocked_ns, p.prepare_ns), 0) AS request_full, ifnull(min(p.result_blocked_ns, p.reply_ns), 0) AS result_full,
    ifnull(p.decode_ns, 0) + ifnull(p.signal_ns, 0) + iif(p.fence_free, ifnull(p.fence_ns, 0), 0) AS serving_ns, ifnull(p.finish_ns, 0) AS finish_ns,
    iif(p.fence_free, 0, ifnull(p.fence_ns, 0)) AS dependency,
    p.redo_ns AS redo, ifnull(p.queue_ns, 0) + ifnull(p.preempted_ns, 0) - ifnull(w.ns, 0) AS handover,
    min(ifnull(p.decode_delay_ns, 0), ifnull(p.decode_ns, 0) + iif(p.path IS NOT 'burst' OR NOT p.cold, ifnull(p.slots_ns, 0), 0))
      + min(ifnull(p.reply_delay_ns, 0), ifnull(p.reply_ns, 0) - ifnull(min(p.result_blocked_ns, p.reply_ns), 0) + ifnull(p.signal_ns, 0)) AS machine_busy,
    w.queued_behind, w.inversion, w.crowded_out, w.hogged, w.preempted, w.stalled, ifnull(w.no_cpu, 0) AS no_cpu, ifnull(w.unknown, 0) AS unknown
  FROM picked p LEFT JOIN kinds k ON k.id = p.model_id LEFT JOIN waited w ON w.id = p.id
  WHERE @only@p.complete AND p.status = 'NONE' AND @value@ IS NOT NULL LIMIT -1),
caused AS (
  SELECT id, key, queued_behind, inversion, crowded_out, hogged, preempted, stalled, redo, handover, iif(is_cold, slots_ns, 0) AS cold,
    iif(request = 2, send_ns, 0) + iif(result = 2, return_ns, 0) AS woken_late,
    iif(request = 1, send_ns, 0) + iif(result = 1, return_ns, 0) AS polled_late, request_full + result_full AS queue_full,
    serving_ns + iif(NOT is_cold, slots_ns, 0) + reply_ns - result_full - machine_busy AS service, machine_busy + no_cpu AS machine_busy, prepare_ns - request_full + finish_ns AS client, dependency,
    iif(request = 0, send_ns, 0) + iif(result = 0, return_ns, 0) + iif(is_cold IS NULL, slots_ns, 0) + unknown AS unknown
  FROM taken LIMIT -1),
summed AS MATERIALIZED (
  SELECT key, min(id) AS id,
    total(queued_behind) AS queued_behind, count(nullif(queued_behind, 0)) AS n_queued_behind,
    total(inversion) AS inversion, count(nullif(inversion, 0)) AS n_inversion,
    total(crowded_out) AS crowded_out, count(nullif(crowded_out, 0)) AS n_crowded_out,
    total(hogged) AS hogged, count(nullif(hogged, 0)) AS n_hogged,
    total(preempted) AS preempted, count(nullif(preempted, 0)) AS n_preempted,
    total(stalled) AS stalled, count(nullif(stalled, 0)) AS n_stalled,
    total(redo) AS redo, count(nullif(redo, 0)) AS n_redo,
    total(handover) AS handover, count(nullif(handover, 0)) AS n_handover,
    total(cold) AS cold, count(nullif(cold, 0)) AS n_cold,
    total(woken_late) AS woken_late, count(nullif(woken_late, 0)) AS n_woken_late,
    total(polled_late) AS polled_late, count(nullif(polled_late, 0)) AS n_polled_late,
    total(queue_full) AS queue_full, count(nullif(queue_full, 0)) AS n_queue_full,
    total(service) AS service, count(nullif(service, 0)) AS n_service,
    total(machine_busy) AS machine_busy, count(nullif(machine_busy, 0)) AS n_machine_busy,
    total(client) AS client, count(nullif(client, 0)) AS n_client,
    total(dependency) AS dependency, count(nullif(dependency, 0)) AS n_dependency,
    total(unknown) AS unknown, count(nullif(unknown, 0)) AS n_unknown
  FROM caused GROUP BY key),
causes(nth, cause) AS (VALUES (0, 'queued_behind'), (1, 'inversion'), (2, 'crowded_out'), (3, 'hogged'), (4, 'preempted'),
  (5, 'redo'), (6, 'handover'), (7, 'cold'), (8, 'woken_late'), (9, 'polled_late'),
  (10, 'queue_full'), (11, 'service'), (12, 'client'), (13, 'dependency'), (14, 'unknown'), (15, 'machine_busy'), (16, 'stalled')),
each AS (
  SELECT id, cause,
    CASE nth WHEN 0 THEN n_queued_behind WHEN 1 THEN n_inversion WHEN 2 THEN n_crowded_out WHEN 3 THEN n_hogged WHEN 4 THEN n_preempted
      WHEN 5 THEN n_redo WHEN 6 THEN n_handover WHEN 7 THEN n_cold WHEN 8 THEN n_woken_late WHEN 9 THEN n_polled_late
      WHEN 10 THEN n_queue_full WHEN 11 THEN n_service WHEN 12 THEN n_client WHEN 13 THEN n_dependency WHEN 14 THEN n_unknown
      WHEN 15 THEN n_machine_busy WHEN 16 THEN n_stalled END AS n,
    CASE nth WHEN 0 THEN queued_behind WHEN 1 THEN inversion WHEN 2 THEN crowded_out WHEN 3 THEN hogged WHEN 4 THEN preempted
      WHEN 5 THEN redo WHEN 6 THEN handover WHEN 7 THEN cold WHEN 8 THEN woken_late WHEN 9 THEN polled_late
      WHEN 10 THEN queue_full WHEN 11 THEN service WHEN 12 THEN client WHEN 13 THEN dependency WHEN 14 THEN unknown
      WHEN 15 THEN machine_busy WHEN 16 THEN stalled END AS sum_ns
  FROM summed CROSS JOIN causes),
ranked AS (
  SELECT e.cause, e.n, e.sum_ns, a.name AS app, k.name AS model, x.path,
    row_number() OVER (PARTITION BY e.cause ORDER BY e.sum_ns DESC, a.name, k.name, x.path) AS nth
  FROM each e CROSS JOIN execution x ON x.id = e.id LEFT JOIN apps a ON a.id = x.app_id LEFT JOIN kinds k ON k.id = x.model_id)
SELECT cause, sum(n) AS n, CAST(total(sum_ns) AS INTEGER) AS sum_ns, 100 * total(sum_ns) / sum(total(sum_ns)) OVER () AS share_percent,
  max(CASE nth WHEN 1 THEN app END) AS app, max(CASE nth WHEN 1 THEN model END) AS model, max(CASE nth WHEN 1 THEN path END) AS path,
  100 * max(sum_ns) / total(sum_ns) AS of_it_percent
FROM ranked GROUP BY cause HAVING total(sum_ns) > 0 ORDER BY sum_ns DESC, cause
