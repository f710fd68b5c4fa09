-- Slots, pools, buffers, and single operations.
CREATE TABLE slot_miss(execution_id INTEGER, at INTEGER, slot INTEGER, fetch_ns INTEGER, map_ns INTEGER);
CREATE TABLE stored_mapping(
	id INTEGER PRIMARY KEY, trace_id INTEGER, owner INTEGER, owner_id INTEGER, stream_id INTEGER, slot INTEGER, kind
	INTEGER, bytes INTEGER, mapped INTEGER, unmapped INTEGER, took_ns INTEGER, status INTEGER, cause INTEGER);
CREATE TABLE stored_buffer(
	id INTEGER PRIMARY KEY, trace_id INTEGER, app_id INTEGER, number INTEGER, bytes INTEGER, roles INTEGER,
	allocated INTEGER, freed INTEGER, status INTEGER, cause INTEGER);
CREATE TABLE stored_buffer_use(
	buffer_id INTEGER, execution_id INTEGER, at INTEGER, op INTEGER, bytes INTEGER, took_ns INTEGER, status INTEGER,
	cause INTEGER);

-- bits: queue 2, write 1.
CREATE TABLE stored_fmq_op(
	id INTEGER PRIMARY KEY, execution_id INTEGER, at INTEGER, bits INTEGER, items INTEGER, used INTEGER,
	blocked_ns INTEGER, spun_ns INTEGER, slept_ns INTEGER);
CREATE TABLE stored_slot_lookup(id INTEGER PRIMARY KEY, execution_id INTEGER, at INTEGER, slot INTEGER, hit INTEGER);
CREATE TABLE stored_operation(
	id INTEGER PRIMARY KEY, execution_id INTEGER, op INTEGER, type INTEGER, began INTEGER, ended INTEGER);

INSERT INTO schema_doc VALUES
('slot_miss', '', '', 'lookup of a slot that the service did not know'),
('slot_miss', 'execution_id', 'id', 'execution.id'),
('slot_miss', 'at', 'time', 'of the lookup'),
('slot_miss', 'slot', 'number', 'of its burst'),
('slot_miss', 'fetch_ns', 'ns', 'asking the client for all the slots that the execution missed'),
('slot_miss', 'map_ns', 'ns', 'mapping this one');
