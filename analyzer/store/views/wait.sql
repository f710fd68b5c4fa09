-- wait: one row per stretch of time that an execution was ready and not on a lane, split where the lane that it got next changed
-- hands. Waits tile queue and preempted of every complete execution. Leaves out waits whose end is unknown.
CREATE VIEW wait AS
SELECT x.id AS execution_id, x.enqueued AS began, x.dispatched AS ended, 'queue' AS kind,
	coalesce(x.lane, (SELECT s.lane FROM stored_slice s WHERE s.execution_id = x.id ORDER BY s.began LIMIT 1)) AS lane,
	'idle' AS occupancy, NULL AS blocker_id, NULL AS blocker_app_id, 'handover' AS cause, NULL AS open
FROM stored_unpacked x WHERE x.idle AND x.dispatched > x.enqueued
UNION ALL
SELECT w.execution_id, w.began, w.began + w.dur_ns, @value bits.kind w@, @value bits.lane w@,
	@value bits.occupancy w@, w.blocker_id, w.blocker_app_id, @value bits.cause w@, @value bits.open w@
FROM stored_wait w
UNION ALL
SELECT r.execution_id, max(r.began, o.began), min(r.began + r.dur_ns, o.began + o.dur_ns), @value run_bits.run_kind r@,
	@value run_bits.run_lane r@, @occupancy o.occupancy@, o.blocker_id, o.blocker_app_id,
	CASE WHEN o.occupancy = @occupancy:unknown@ THEN 'unknown'
		WHEN o.occupancy = @occupancy:idle@ THEN 'handover'
		WHEN @bits run_bits.run_kind r@ = @wait_kind:preempted@ THEN 'preempted'
		WHEN r.app_id IS NULL OR o.blocker_app_id IS NULL THEN 'unknown'
		WHEN r.app_id <> o.blocker_app_id THEN iif(o.hogging, 'hogged', 'crowded_out')
		WHEN @bits run_bits.run_level r@ = 3 OR o.level = 3 THEN 'unknown'
		WHEN o.level < @bits run_bits.run_level r@ THEN 'inversion'
		ELSE 'queued_behind' END,
	@value run_bits.run_open r@
FROM stored_wait_run r CROSS JOIN stored_occupancy o ON o.id BETWEEN r.first_id AND r.last_id;

-- The same rows: wait_alone has those that are stored one by one, and the others are pairs of a wait_run and an occupancy. Queries
-- that want few of many rows read these relations, and make no pair in vain.
CREATE VIEW wait_alone AS
SELECT x.id AS execution_id, x.enqueued AS began, x.dispatched AS ended, 'queue' AS kind,
	coalesce(x.lane, (SELECT s.lane FROM stored_slice s WHERE s.execution_id = x.id ORDER BY s.began LIMIT 1)) AS lane,
	'idle' AS occupancy, NULL AS blocker_id, NULL AS blocker_app_id, 'handover' AS cause, NULL AS open
FROM stored_unpacked x WHERE x.idle AND x.dispatched > x.enqueued
UNION ALL
SELECT w.execution_id, w.began, w.began + w.dur_ns, @value bits.kind w@, @value bits.lane w@,
	@value bits.occupancy w@, w.blocker_id, w.blocker_app_id, @value bits.cause w@, @value bits.open w@
FROM stored_wait w;

-- The id of an occupancy is its lane, times 2^43, plus its number on that lane.
CREATE VIEW wait_run AS SELECT
	r.execution_id, r.began, r.began + r.dur_ns AS ended, r.first_id >> 43 AS lane_id, r.first_id, r.last_id, r.app_id,
	@value run_bits.run_kind r@ AS kind, @value run_bits.run_lane r@ AS lane, nullif(@bits run_bits.run_level r@, 3) AS level,
	@value run_bits.run_open r@ AS open
FROM stored_wait_run r;

CREATE VIEW occupancy AS SELECT
	o.id, o.began, o.began + o.dur_ns AS ended, o.id >> 43 AS lane_id, @occupancy o.occupancy@ AS occupancy, o.blocker_id,
	o.blocker_app_id, nullif(o.level, 3) AS level, o.hogging
FROM stored_occupancy o;
