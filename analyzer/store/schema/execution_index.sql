-- The import makes this index before it loads the first execution, and fills it together with the pages of executions;
-- without such pages it makes the index after the load, like indices.sql.
CREATE INDEX stored_execution_seq ON stored_execution(stream_id, seq);
