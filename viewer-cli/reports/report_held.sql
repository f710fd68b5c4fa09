-- Stretches on a lane of all executions, picked or not, for the overview of the page.
SELECT execution_id, began - @began@ AS began, ended - began AS dur
FROM lane_slice
WHERE began < @to@ AND ended > @from@
