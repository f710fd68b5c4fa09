-- execution: one row per execution, whatever its path, and per trial run (path prepare); leaves out nothing.
CREATE VIEW execution AS SELECT
	x.id, x.trace_id, x.stream_id,
	CASE x.path WHEN @path:burst@ THEN x.stream_id END AS burst_id,
	x.seq,
	((SELECT s.number FROM stored_stream s WHERE s.id = x.stream_id) << 32) | x.seq AS exec,
	x.app_id, x.model_id,
	@value flags.priority x@ AS priority,
	@path x.path@ AS path,
	@value flags.fallback x@ AS fallback,
	@columns execution x submitted..slot_misses@,
	@value flags.cold x@ AS cold,
	x.preemptions, x.deadline,
	@value flags.status x@ AS status,
	@value flags.miss x@ AS miss,
	CASE WHEN @bits flags.miss x@ THEN (SELECT m.lateness_ns FROM stored_missed m WHERE m.execution_id = x.id) END AS lateness_ns,
	x.bypassed,
	@bits flags.quality x@ = @quality:complete@ AND x.path <> @path:prepare@ AS complete,
	@value flags.quality x@ AS quality,
	@value flags.sides x@ AS sides,
	x.lane,
	CASE WHEN @bits flags.miss x@ THEN (SELECT m.missed_at FROM stored_missed m WHERE m.execution_id = x.id) END AS missed_at,
	@columns execution x prepare_ns..@
FROM stored_unpacked x;
