-- explain_lanes: the stretches of time that one execution was on a lane, in their order. Leaves out uncertain stretches.
@with@
SELECT s.instance, s.lane, s.began - @began@ AS began_at, s.ended - @began@ AS ended_at, s.ended - s.began AS dur_ns
FROM lane_slice s WHERE s.execution_id = @id@ ORDER BY s.began, s.lane
