-- summary_trust: one row: the content of a recording, and its losses.
@with@,
traces AS (
  SELECT count(*) AS n_traces,
    (SELECT group_concat(host, ', ') FROM (SELECT DISTINCT host FROM trace WHERE host <> '' ORDER BY host)) AS hosts,
    (SELECT group_concat(session, ', ') FROM (SELECT DISTINCT session FROM trace WHERE session <> '' ORDER BY session)) AS sessions,
    max(max(ended, ifnull(recorded_until, ended))) - min(began) AS span_ns, max(max(ended, ifnull(recorded_until, ended))) - max(ended) AS silent_ns,
    nullif(max(max(ended, coalesce(recorded_until, over_by, ended))) - max(max(ended, ifnull(recorded_until, ended))), 0) AS perhaps_ns, sum(events) AS n_events, sum(lost_events) AS lost_events, sum(lost_packets) AS lost_packets,
    group_concat(DISTINCT nullif(clock, '')) AS clocks, count(DISTINCT clock_offset) AS n_offsets, sum(unusable_events) AS n_unusable, sum(cut) AS n_cut
  FROM trace),
rules AS (
  SELECT group_concat(rule, ' and ') AS rules FROM (
    SELECT DISTINCT policy || ', preempt ' || preempt || ', ' || lanes || iif(lanes = 1, ' lane', ' lanes') AS rule FROM service_rules ORDER BY at)),
executions AS (
  SELECT ifnull(sum(n), 0) AS n_executions, ifnull(sum(n) FILTER (WHERE quality = 'head'), 0) AS n_head,
    ifnull(sum(n) FILTER (WHERE quality = 'tail'), 0) AS n_tail, ifnull(sum(n) FILTER (WHERE quality = 'gap'), 0) AS n_gap,
    ifnull(sum(n) FILTER (WHERE quality = 'open'), 0) AS n_open, ifnull(sum(n) FILTER (WHERE sides = 'both'), 0) AS n_both,
    ifnull(sum(n) FILTER (WHERE sides = 'service'), 0) AS n_service, ifnull(sum(n) FILTER (WHERE sides = 'client'), 0) AS n_client
  FROM execution_count),
-- of those without their beginning: they began in the recording, and while their app was not recorded
apart AS (
  SELECT ifnull(sum(value) FILTER (WHERE key = 'app_not_yet'), 0) AS n_not_yet, ifnull(sum(value) FILTER (WHERE key = 'app_no_more'), 0) AS n_no_more,
    ifnull(sum(value) FILTER (WHERE key = 'began_inside'), 0) AS n_inside FROM meta),
left_out AS (SELECT ifnull(sum(value), 0) AS n_left_out FROM meta WHERE substr(key, 1, 9) = 'left_out_')
SELECT t.n_traces, t.hosts, t.sessions, r.rules, t.span_ns, t.n_events, (SELECT count(*) FROM stream) AS n_streams,
  (SELECT count(*) FROM loss WHERE cause <> 'unusable') AS n_losses, t.lost_events, t.lost_packets, e.n_executions, e.n_head - a.n_not_yet - a.n_no_more - a.n_inside AS n_head, a.n_inside, a.n_not_yet, a.n_no_more, e.n_tail, e.n_gap, e.n_open,
  e.n_both, e.n_service, e.n_client, CASE WHEN e.n_executions > 0 THEN 100.0 * (e.n_tail + e.n_gap) / e.n_executions END AS touched_percent,
  t.clocks, t.n_offsets, t.n_unusable, t.n_cut, l.n_left_out, (SELECT count(*) FROM loss WHERE cause = 'unchecked') AS n_unchecked,
  t.silent_ns, t.perhaps_ns
FROM traces t, rules r, executions e, apart a, left_out l
