-- export_losses: one row per loss, in order of time: its interval and its cause, then what is known of it.
SELECT began, ended, cause, trace_id, cpu, pid, events, packets
FROM loss
ORDER BY began, ended
