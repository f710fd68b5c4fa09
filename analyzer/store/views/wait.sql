-- wait: one row per stretch of time that an execution was ready and not on a lane, split where the lane that it got next changed
-- hands. Waits tile queue and preempted of every complete execution. Leaves out waits whose end nobody told.
CREATE VIEW wait AS
SELECT x.id AS execution_id, x.enqueued AS began, x.dispatched AS ended, 'queue' AS kind,
	coalesce(x.lane, (SELECT s.lane FROM stored_slice s WHERE s.execution_id = x.id ORDER BY s.began LIMIT 1)) AS lane,
	'idle' AS occupancy, NULL AS blocker_id, NULL AS blocker_app_id, 'handover' AS cause
FROM stored_unpacked x WHERE x.idle AND x.dispatched > x.enqueued
UNION ALL
SELECT w.execution_id, w.began, w.began + w.dur_ns, @wait_kind w.bits & 1@, NULLIF(w.bits >> 1 & 255, 255),
	@occupancy w.bits >> 9 & 3@, w.blocker_id, w.blocker_app_id, @cause w.bits >> 11 & 31@
FROM stored_wait w;

INSERT INTO schema_doc VALUES
('wait', '', '', 'stretch of time that an execution was ready and not on a lane; a wait is split where its lane changed hands'),
('wait', 'execution_id', 'id', 'execution.id'),
('wait', 'began', 'time', 'ready and off its lane, or the lane changed hands'),
('wait', 'ended', 'time', 'on a lane, or the lane changed hands, or given up'),
('wait', 'kind', 'label', 'queue: before it was first on a lane; preempted: after that'),
('wait', 'lane', 'number', 'the one it got next; it never did: 0'),
('wait', 'occupancy', 'label', 'held: somebody was on that lane; idle: nobody; unknown: events were lost'),
('wait', 'blocker_id', 'id', 'execution.id of who was on the lane, if held'),
('wait', 'blocker_app_id', 'id', 'app.id of who was on the lane, if held'),
('wait', 'cause', 'label', 'queued_behind, inversion, crowded_out, hogged, preempted, handover, unknown: as in miss_cause');
