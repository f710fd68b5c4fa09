-- under_way: a condition on executions: with an id between two others, and under way between two times.
id BETWEEN @first@ AND @last@
	AND coalesce(submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, run_ended, result_written, result_read, returned, signalled) < @to@
	AND coalesce(signalled, returned, result_read, result_written, run_ended, dispatched, enqueued, fenced, decoded, request_read, request_written, submitted) >= @from@
