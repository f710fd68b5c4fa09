-- metrics_events: one row: events of all traces, those that were lost, and the times of which events were lost.
SELECT sum(events), sum(lost_events), sum(lost_packets), (SELECT count(*) FROM loss)
FROM trace
