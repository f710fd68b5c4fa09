-- began: an expression: when an execution began, as early as it was observed.
coalesce(submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, run_ended, result_written, result_read, returned, signalled, missed_at)
