-- timeline_drawn: the marks and bars of the timeline, in any order. A row for each execution under way in the asked span (what 0): its time on a lane,
-- if it had one just once; the time for which it was ready before that; its deadline, and the time of the miss; and if the end of its run is not
-- recorded, when it was over at the latest (until_at); is_miss: its deadline was missed. A row for each wait of another kind (1), and for each preemption (2, at began_at).
@with@
SELECT 0 AS what, dispatched - @began@ AS began_at, run_ended - @began@ AS ended_at, app_id, @by@ AS who, stream_id, lane,
	enqueued - @began@ AS ready_at, enqueued + queue_ns - @began@ AS not_ready_at, deadline - @began@ AS deadline_at,
	CASE WHEN miss IS NULL THEN NULL WHEN miss = 'predicted' THEN coalesce(missed_at, result_written, run_ended, returned)
		ELSE deadline + lateness_ns END - @began@ AS missed_at,
	id, CASE WHEN run_ended IS NULL THEN coalesce(signalled, returned, @ended@) - @began@ END AS until_at, miss IS NOT NULL AS is_miss
FROM execution
WHERE @under_way@
UNION ALL
SELECT 1, NULL, NULL, NULL, (SELECT x.@by@ FROM execution x WHERE x.id = w.execution_id), NULL, NULL,
	w.began - @began@, w.ended - @began@, NULL, NULL, NULL, NULL, NULL
FROM wait w WHERE w.kind = 'preempted' AND w.execution_id BETWEEN @first@ AND @last@
UNION ALL -- went on behind the recording, or had begun before it
SELECT 1, NULL, NULL, NULL, (SELECT x.@by@ FROM execution x WHERE x.id = w.execution_id), NULL, NULL,
	w.began - @began@, w.ended - @began@, NULL, NULL, NULL, NULL, NULL
FROM wait w
WHERE w.open IS NOT NULL AND w.kind = 'queue' AND w.execution_id BETWEEN @first@ AND @last@
	AND (SELECT x.enqueued + x.queue_ns IS NULL FROM execution x WHERE x.id = w.execution_id)
UNION ALL
SELECT 2, stopped - @began@, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM preemption WHERE execution_id BETWEEN @first@ AND @last@
