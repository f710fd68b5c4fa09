-- process, service_rules, model, stream, burst: one row per each; burst has the streams of path burst only.
CREATE VIEW process AS SELECT id, trace_id, pid, app_id, @role role@ AS role, name FROM stored_process;

CREATE VIEW service_rules AS SELECT
	trace_id, process_id, instance, at, @policy policy@ AS policy, @preempt preempt@ AS preempt, lanes, spin_us
FROM stored_rules;

CREATE VIEW model AS SELECT
	id, trace_id, process_id, app_id, name, @priority priority@ AS priority, operations, const_bytes, step_ns, prepare_ns,
	@status status@ AS status, number, estimate_ns, prepared, released, deadline
FROM stored_model;

CREATE VIEW stream AS SELECT
	id, trace_id, number, @path path@ AS path, app_id, model_id, opened, closed, @reason reason@ AS reason, process_id, executions
FROM stored_stream;

CREATE VIEW burst AS SELECT
	id, trace_id, number, @path path@ AS path, app_id, model_id, opened, closed, @reason reason@ AS reason, process_id, executions,
	cold, first - opened AS first_ns
FROM stored_stream WHERE path = 0;

INSERT INTO schema_doc VALUES
('process', '', '', 'process: a client, as long as it had a connection; or a service'),
('process', 'id', 'id', 'its number in this file'),
('process', 'trace_id', 'id', 'trace.id'),
('process', 'pid', 'number', 'as the kernel called it'),
('process', 'app_id', 'id', 'app.id; NULL for a service'),
('process', 'role', 'label', 'client, service'),
('process', 'name', 'text', 'data from a stranger; empty: unknown'),
('service_rules', '', '', 'time that the rules of a service were others than before'),
('service_rules', 'trace_id', 'id', 'trace.id'),
('service_rules', 'process_id', 'id', 'process.id'),
('service_rules', 'instance', 'number', 'the service''s own: the upper 12 bits of every number it gives out'),
('service_rules', 'at', 'time', 'in force from here on'),
('service_rules', 'policy', 'label', 'fair, priority, fifo, edf, native'),
('service_rules', 'preempt', 'label', 'none, restart, save'),
('service_rules', 'lanes', 'count', 'executions that may run at a time'),
('service_rules', 'spin_us', 'number', 'microseconds that a waiter polls before it sleeps'),
('model', '', '', 'model that was prepared, or could not be'),
('model', 'id', 'id', 'its number in this file'),
('model', 'trace_id', 'id', 'trace.id'),
('model', 'process_id', 'id', 'process.id of who had it prepared'),
('model', 'app_id', 'id', 'app.id'),
('model', 'name', 'text', 'data from a stranger; empty: unknown'),
('model', 'priority', 'label', 'low, medium, high'),
('model', 'operations', 'count', 'it has'),
('model', 'const_bytes', 'bytes', 'constants'),
('model', 'step_ns', 'ns', 'the longest stretch between two checkpoints'),
('model', 'prepare_ns', 'ns', 'preparing it took'),
('model', 'status', 'label', 'of preparing it, as the HAL calls it'),
('model', 'number', 'number', 'the service''s; NULL: it could not be prepared'),
('model', 'estimate_ns', 'ns', 'what the service thought an execution would take'),
('model', 'prepared', 'time', 'it was, or could not be'),
('model', 'released', 'time', 'nobody could execute it any more'),
('model', 'deadline', 'time', 'of preparing it; NULL: none'),
('stream', '', '', 'stream: executions of one burst, or of one path of one connection, which are counted together'),
('stream', 'id', 'id', 'its number in this file'),
('stream', 'trace_id', 'id', 'trace.id'),
('stream', 'number', 'number', 'the service''s'),
('stream', 'path', 'label', 'burst, sync, fenced, async'),
('stream', 'app_id', 'id', 'app.id'),
('stream', 'model_id', 'id', 'model.id; NULL: any'),
('stream', 'opened', 'time', 'executions could be counted from here on'),
('stream', 'closed', 'time', 'there were no more; NULL: never, or unknown'),
('stream', 'reason', 'label', 'of its end: client, peer_death, protocol, shutdown'),
('stream', 'process_id', 'id', 'process.id of the client'),
('stream', 'executions', 'count', 'that were seen'),
('burst', '', '', 'stream of path burst: a burst object'),
('burst', 'id', 'id', 'stream.id'),
('burst', 'trace_id', 'id', 'trace.id'),
('burst', 'number', 'number', 'the service''s'),
('burst', 'path', 'label', 'burst'),
('burst', 'app_id', 'id', 'app.id'),
('burst', 'model_id', 'id', 'model.id'),
('burst', 'opened', 'time', 'the object was made'),
('burst', 'closed', 'time', 'the object was gone; NULL: never, or unknown'),
('burst', 'reason', 'label', 'of its end: client, peer_death, protocol, shutdown'),
('burst', 'process_id', 'id', 'process.id of the client'),
('burst', 'executions', 'count', 'that were seen'),
('burst', 'cold', 'count', 'of them, those with a slot that the service did not know'),
('burst', 'first_ns', 'ns', 'from opened until the first execution was submitted');
