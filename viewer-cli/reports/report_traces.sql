-- report_traces: one row per trace.
SELECT id AS trace, host, session, path, max(ended, ifnull(recorded_until, ended)) - began AS length_ns, events, lost_events, lost_packets, clock, cut
FROM trace
ORDER BY id
