-- Holders of lanes, for the page, ordered by time.
SELECT s.instance, s.lane, s.execution_id, s.began - @began@ AS began, s.ended - s.began AS dur
FROM lane_slice s
WHERE s.began < @to@ AND s.ended > @from@
ORDER BY s.began, s.instance, s.lane
