-- Stretches on a lane for the page, ordered by time: those of executions whose own row does not say all of them, as after a preemption.
SELECT instance, lane, execution_id, began - @began@ AS began, dur_ns AS dur
FROM stored_slice
WHERE began < @to@ AND began + dur_ns > @from@
ORDER BY began, instance, lane
