-- timeline_marks: misses, preemptions, and deadlines of executions under way in the asked span, in their order.
@with@,
seen AS (
	SELECT id, deadline, miss,
		CASE WHEN miss = 'predicted' THEN coalesce(missed_at, result_written, run_ended, returned) ELSE deadline + lateness_ns END
			AS missed
	FROM execution
	WHERE deadline IS NOT NULL AND id BETWEEN @first@ AND @last@
		AND coalesce(submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, run_ended, result_written,
			result_read, returned, signalled) < @to@
		AND coalesce(signalled, returned, result_read, result_written, run_ended, dispatched, enqueued, fenced, decoded,
			request_read, request_written, submitted) >= @from@),
marks(mark, at, execution_id) AS (
	SELECT 'missed', missed, id FROM seen WHERE miss IS NOT NULL
	UNION ALL SELECT 'deadline', deadline, id FROM seen
	UNION ALL SELECT 'preempted', stopped, execution_id FROM preemption WHERE execution_id BETWEEN @first@ AND @last@)
SELECT k.mark, k.at - @began@ AS marked_at, k.execution_id, a.name AS app, m.name AS model
FROM marks k LEFT JOIN execution x ON x.id = k.execution_id LEFT JOIN apps a ON a.id = x.app_id LEFT JOIN models m ON m.id = x.model_id
WHERE k.at >= @from@ AND k.at < @to@
ORDER BY k.at, k.mark, k.execution_id LIMIT @limit@
