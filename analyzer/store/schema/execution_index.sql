-- Made before the first execution is loaded, and filled with the pages of executions; or like the others (indices.sql).
CREATE INDEX stored_execution_seq ON stored_execution(stream_id, seq);
