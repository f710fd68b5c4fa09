-- The import drops these indices before it loads more.
DROP INDEX stored_execution_seq;
DROP INDEX stored_stream_number;
DROP INDEX stored_wait_execution;
DROP INDEX stored_wait_run_execution;
DROP INDEX stored_slice_execution;
DROP INDEX stored_preemption_execution;
DROP INDEX stored_deadline_miss_execution;
DROP INDEX slot_miss_execution;
DROP INDEX stored_buffer_use_execution;
DROP INDEX stored_inversion_victim;
DROP INDEX stored_operation_execution;
