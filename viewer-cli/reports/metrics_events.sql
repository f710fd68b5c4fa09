-- metrics_events: one row: events of all traces, and those that were lost.
SELECT sum(events), sum(lost_events), sum(lost_packets)
FROM trace
