-- misses_stored: the misses by cause, of all executions; for a WITH.
stats AS (SELECT * FROM miss_stat)
