-- lane_slice: one row per stretch of time that one execution held one lane. Leaves out stretches that are not certain.
CREATE VIEW lane_slice AS
SELECT x.trace_id, x.lane, x.id AS execution_id, x.dispatched AS began, x.run_ended AS ended,
	((SELECT s.number FROM stored_stream s WHERE s.id = x.stream_id) >> 20) AS instance
FROM stored_unpacked x WHERE x.lane IS NOT NULL AND x.dispatched IS NOT NULL AND x.run_ended IS NOT NULL
UNION ALL
SELECT s.trace_id, s.lane, s.execution_id, s.began, s.began + s.dur_ns, s.instance FROM stored_slice s;
