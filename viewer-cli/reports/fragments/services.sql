-- service_any_app: the end of a condition on an app: any.
IS NOT ''
-- service_itself: a condition on rows about services.
trace_id = @trace@ AND instance = @instance@
-- service_streams: a condition on streams t: those of the service.
t.trace_id = @trace@ AND t.number >> 20 = @instance@
-- service_models: a condition on models m: those of the service.
m.trace_id = @trace@ AND m.number >> 20 = @instance@
-- service_executions: a condition on executions x: those of the service.
x.trace_id = @trace@ AND (x.exec >> 52 & 4095) = @instance@
-- sight: the columns of a query of facts s that state how much of the time was observed.
s.service, s.losses, s.native, s.hole_ns, s.wait_ns, s.lane_ns, s.executions, s.strange_ns, s.partly
-- sight_of_lags: the same for app_share, whose most_lag_ns already includes all hidden waits of known
-- apps. Windows of app_lag do not include them.
s.service, s.losses, s.native, s.hole_ns, s.stranger_ns, s.lane_ns, s.executions, s.strange_ns, s.partly
