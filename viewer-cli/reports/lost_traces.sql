-- lost_traces: one row per trace that lost events, by the count of the tracer.
SELECT path, events, id FROM trace WHERE lost_events > 0 OR lost_packets > 0 ORDER BY id
