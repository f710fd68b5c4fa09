-- timeline_drawn: the marks and bars of the timeline, in any order. A row for each execution under way in the asked span: its time on a lane, if it
-- had one just once (otherwise several is its id); the time for which it was ready before that; its deadline, and the time of the miss. A row for
-- each wait after the first one (wait), and for each preemption (preempted, at began_at).
@with@
SELECT 'execution' AS what, CASE WHEN lane IS NOT NULL THEN dispatched END - @began@ AS began_at, run_ended - @began@ AS ended_at,
	app_id, @by@ AS who, CASE WHEN lane IS NOT NULL THEN stream_id END AS stream_id, lane,
	enqueued - @began@ AS ready_at, enqueued + queue_ns - @began@ AS not_ready_at, deadline - @began@ AS deadline_at,
	CASE WHEN miss IS NULL THEN NULL WHEN miss = 'predicted' THEN coalesce(missed_at, result_written, run_ended, returned)
		ELSE deadline + lateness_ns END - @began@ AS missed_at,
	CASE WHEN lane IS NULL AND dispatched IS NOT NULL THEN id END AS several
FROM execution
WHERE @under_way@
UNION ALL
SELECT 'wait', NULL, NULL, NULL, (SELECT x.@by@ FROM execution x WHERE x.id = w.execution_id), NULL, NULL,
	w.began - @began@, w.ended - @began@, NULL, NULL, NULL
FROM wait w WHERE w.kind = 'preempted' AND w.execution_id BETWEEN @first@ AND @last@
UNION ALL
SELECT 'preempted', stopped - @began@, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM preemption WHERE execution_id BETWEEN @first@ AND @last@
