-- timeline_losses: one row per interval of lost events that touches the asked span, in their order.
@with@
SELECT trace_id, cpu, pid, began - @began@ AS began_at, ended - @began@ AS ended_at, events, packets
FROM loss WHERE began < @to@ AND ended >= @from@ ORDER BY began, ended, trace_id, cpu, pid LIMIT @limit@
