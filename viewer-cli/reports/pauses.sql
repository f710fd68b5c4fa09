-- pauses: one row: for how long services emitted nothing in the asked time, though they had requests, and then went on; how many executions waited then;
-- and the most that this may have added to how long these took, summed over them.
@with@
SELECT ifnull(sum(s.ended - s.began), 0) AS paused_ns, ifnull(sum(s.awaited), 0) AS n_awaited, ifnull(sum((s.ended - s.began) * s.awaited), 0) AS awaited_ns
FROM silence s WHERE s.went_on AND s.began < @to@ AND s.ended > @from@
