-- service_apps: the end of a condition on an app: it has a stream to the service.
IN (SELECT app_id FROM stream WHERE trace_id = @trace@ AND number >> 20 = @instance@)
