-- The import makes these indices after the load.
CREATE INDEX stored_stream_number ON stored_stream(number);
CREATE INDEX stored_wait_execution ON stored_wait(execution_id);
CREATE INDEX stored_wait_run_execution ON stored_wait_run(execution_id);
CREATE INDEX stored_slice_execution ON stored_slice(execution_id);
CREATE INDEX stored_preemption_execution ON stored_preemption(execution_id);
CREATE INDEX stored_deadline_miss_execution ON stored_deadline_miss(execution_id);
CREATE INDEX slot_miss_execution ON slot_miss(execution_id);
CREATE INDEX stored_buffer_use_execution ON stored_buffer_use(execution_id) WHERE execution_id IS NOT NULL;
CREATE INDEX stored_inversion_victim ON stored_inversion(victim_id);
CREATE INDEX stored_operation_execution ON stored_operation(execution_id);
