-- export_lanes: one row per stretch of a picked execution on a lane, in the order of their beginnings.
@relations@
SELECT s.began, s.ended, s.lane, s.execution_id, x.stream_id, x.app_id, x.model_id
FROM lane_slice s CROSS JOIN picked x ON x.id = s.execution_id
ORDER BY s.began, s.ended, s.lane
