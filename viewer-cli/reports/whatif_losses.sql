-- whatif_losses: one row: how much was lost, and whether a trace is cut.
SELECT (SELECT count(*) FROM loss) + coalesce(sum(lost_events), 0) + coalesce(sum(lost_packets), 0), max(cut)
FROM trace
