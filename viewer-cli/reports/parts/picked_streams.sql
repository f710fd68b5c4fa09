-- picked_streams: a condition on executions: they came through one of these streams.
stream_id IN (@streams@)
