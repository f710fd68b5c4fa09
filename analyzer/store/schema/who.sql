-- Who there was: apps, processes, services and their rules, models, streams.
CREATE TABLE app(id INTEGER PRIMARY KEY, trace_id INTEGER, key INTEGER, uid INTEGER, name TEXT);
CREATE TABLE stored_process(
	id INTEGER PRIMARY KEY, trace_id INTEGER, pid INTEGER, app_id INTEGER, role INTEGER, name TEXT);
CREATE TABLE stored_rules(
	trace_id INTEGER, process_id INTEGER, instance INTEGER, at INTEGER, policy INTEGER, preempt INTEGER, lanes
	INTEGER, spin_us INTEGER);
CREATE TABLE stored_model(
	id INTEGER PRIMARY KEY, trace_id INTEGER, process_id INTEGER, app_id INTEGER, number INTEGER, name TEXT,
	priority INTEGER, operations INTEGER, const_bytes INTEGER, step_ns INTEGER, estimate_ns INTEGER, prepare_ns
	INTEGER, prepared INTEGER, released INTEGER, deadline INTEGER, status INTEGER);
CREATE TABLE stored_stream(
	id INTEGER PRIMARY KEY, trace_id INTEGER, number INTEGER, path INTEGER, app_id INTEGER, model_id INTEGER,
	process_id INTEGER, opened INTEGER, closed INTEGER, reason INTEGER, executions INTEGER, cold INTEGER, first
	INTEGER);

INSERT INTO schema_doc VALUES
('app', '', '', 'app: whom a service took its clients for'),
('app', 'id', 'id', 'its number in this file'),
('app', 'trace_id', 'id', 'trace.id'),
('app', 'key', 'number', 'what the service calls it: a uid, or a pid'),
('app', 'uid', 'number', 'of the user it ran as'),
('app', 'name', 'text', 'what its process is called; data from a stranger');
