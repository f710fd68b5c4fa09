-- pool_mapping, pool_stat, buffer, buffer_use, fmq_op, slot_lookup, operation: one row per each.
CREATE VIEW pool_mapping AS SELECT @columns pool_mapping@ FROM stored_mapping;
CREATE VIEW pool_stat AS SELECT @columns pool_stat@ FROM stored_pool_stat;
CREATE VIEW buffer AS SELECT @columns buffer@ FROM stored_buffer;
CREATE VIEW buffer_use AS SELECT @columns buffer_use@ FROM stored_buffer_use;
CREATE VIEW fmq_op AS SELECT execution_id, CASE WHEN @bits bits.other@ THEN 'other' ELSE @value bits.queue@ END AS queue,
	@columns fmq_op op..@ FROM stored_fmq_op;
CREATE VIEW slot_lookup AS SELECT @columns slot_lookup@ FROM stored_slot_lookup;
CREATE VIEW operation AS SELECT @columns operation@ FROM stored_operation;
