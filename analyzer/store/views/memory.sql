-- pool_mapping, buffer, buffer_use, fmq_op, slot_lookup, operation: one row per each.
CREATE VIEW pool_mapping AS SELECT
	id, stream_id, slot, @pool_kind kind@ AS kind, bytes, mapped, unmapped, took_ns, @cause_of_end cause@ AS cause, trace_id,
	@owner owner@ AS owner, owner_id, @status status@ AS status
FROM stored_mapping;

CREATE VIEW buffer AS SELECT
	id, app_id, bytes, roles, allocated, freed, trace_id, number, @status status@ AS status, @cause_of_end cause@ AS cause
FROM stored_buffer;

CREATE VIEW buffer_use AS SELECT
	buffer_id, at, @buffer_op op@ AS op, bytes, took_ns, @status status@ AS status, @reject cause@ AS cause, execution_id
FROM stored_buffer_use;

CREATE VIEW fmq_op AS SELECT
	execution_id, @queue bits & 3@ AS queue, @direction bits >> 2 & 1@ AS op, at, items, used, blocked_ns, spun_ns, slept_ns
FROM stored_fmq_op;

CREATE VIEW slot_lookup AS SELECT execution_id, at, slot, hit FROM stored_slot_lookup;

CREATE VIEW operation AS SELECT execution_id, op, type, began, ended FROM stored_operation;

INSERT INTO schema_doc VALUES
('slot_lookup', '', '', 'lookup of a slot; filled by import --keep-operations'),
('slot_lookup', 'execution_id', 'id', 'execution.id'),
('slot_lookup', 'at', 'time', 'of the lookup'),
('slot_lookup', 'slot', 'number', 'of its burst'),
('slot_lookup', 'hit', '0/1', 'the service knew it'),
('operation', '', '', 'operation of a model that ran; filled from verbose traces'),
('operation', 'execution_id', 'id', 'execution.id'),
('operation', 'op', 'number', 'its place in the model, from 0'),
('operation', 'type', 'number', 'the operation''s code'),
('operation', 'began', 'time', 'the one before had ended, or the lane was given'),
('operation', 'ended', 'time', 'it had run'),
('pool_mapping', '', '', 'mapping of a pool'),
('pool_mapping', 'id', 'id', 'its number in this file'),
('pool_mapping', 'stream_id', 'id', 'stream.id of the burst whose slot it is; NULL: another owner''s'),
('pool_mapping', 'slot', 'number', 'of its burst, or its place in a call'),
('pool_mapping', 'kind', 'label', 'ashmem, mmap_fd, hardware_buffer_blob, hardware_buffer, device'),
('pool_mapping', 'bytes', 'bytes', 'mapped'),
('pool_mapping', 'mapped', 'time', 'it was there from here on'),
('pool_mapping', 'unmapped', 'time', 'NULL: never, or unknown'),
('pool_mapping', 'took_ns', 'ns', 'mapping it took'),
('pool_mapping', 'cause', 'label', 'freed, evicted, owner_end: of its end'),
('pool_mapping', 'trace_id', 'id', 'trace.id'),
('pool_mapping', 'owner', 'label', 'model, stream, exec, app, service'),
('pool_mapping', 'owner_id', 'number', 'as the trace calls the owner'),
('pool_mapping', 'status', 'label', 'of mapping it, as the HAL calls it'),
('buffer', '', '', 'buffer that the driver keeps for an app, or refused to'),
('buffer', 'id', 'id', 'its number in this file'),
('buffer', 'app_id', 'id', 'app.id'),
('buffer', 'bytes', 'bytes', 'it has'),
('buffer', 'roles', 'count', 'inputs and outputs of models that it may be'),
('buffer', 'allocated', 'time', 'it was, or was refused'),
('buffer', 'freed', 'time', 'NULL: never, or unknown'),
('buffer', 'trace_id', 'id', 'trace.id'),
('buffer', 'number', 'number', 'the service''s'),
('buffer', 'status', 'label', 'of allocating it, as the HAL calls it'),
('buffer', 'cause', 'label', 'freed, evicted, owner_end: of its end'),
('buffer_use', '', '', 'copy of a buffer, or use of one that the rules forbid'),
('buffer_use', 'buffer_id', 'id', 'buffer.id'),
('buffer_use', 'at', 'time', 'it was over'),
('buffer_use', 'op', 'label', 'to: it was filled; from: it was copied out; reject'),
('buffer_use', 'bytes', 'bytes', 'copied'),
('buffer_use', 'took_ns', 'ns', 'copying took'),
('buffer_use', 'status', 'label', 'as the HAL calls it'),
('buffer_use', 'cause', 'label', 'role, owner, uninitialised, dimensions, unknown: of a reject'),
('buffer_use', 'execution_id', 'id', 'execution.id, if it was for one'),
('fmq_op', '', '', 'message written or read; filled by import --keep-operations'),
('fmq_op', 'execution_id', 'id', 'execution.id'),
('fmq_op', 'queue', 'label', 'request, result, call_request, call_result'),
('fmq_op', 'op', 'label', 'write, read'),
('fmq_op', 'at', 'time', 'before a write can be seen, after a read'),
('fmq_op', 'items', 'count', 'of the message'),
('fmq_op', 'used', 'count', 'items in the queue before'),
('fmq_op', 'blocked_ns', 'ns', 'there was no room'),
('fmq_op', 'spun_ns', 'ns', 'the reader polled'),
('fmq_op', 'slept_ns', 'ns', 'the reader slept');
