-- which_stored: at most one row: the execution that meta names as :key, of all executions.
SELECT value FROM meta WHERE key = :key AND value IS NOT NULL
