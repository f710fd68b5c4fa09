-- timeline_stretches: one row per stretch of the execution :id on a lane.
SELECT trace_id * 4096 + instance, lane, began, ended FROM lane_slice WHERE execution_id = :id
