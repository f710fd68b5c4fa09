-- wait: one row per stretch of time that an execution was ready and not on a lane, split where the lane that it got next changed
-- hands. Waits tile queue and preempted of every complete execution. Leaves out waits whose end nobody told.
CREATE VIEW wait AS
SELECT x.id AS execution_id, x.enqueued AS began, x.dispatched AS ended, 'queue' AS kind,
	coalesce(x.lane, (SELECT s.lane FROM stored_slice s WHERE s.execution_id = x.id ORDER BY s.began LIMIT 1)) AS lane,
	'idle' AS occupancy, NULL AS blocker_id, NULL AS blocker_app_id, 'handover' AS cause, NULL AS open
FROM stored_unpacked x WHERE x.idle AND x.dispatched > x.enqueued
UNION ALL
SELECT w.execution_id, w.began, w.began + w.dur_ns, @value bits.kind w@, @value bits.lane w@,
	@value bits.occupancy w@, w.blocker_id, w.blocker_app_id, @value bits.cause w@, @value bits.open w@
FROM stored_wait w;
