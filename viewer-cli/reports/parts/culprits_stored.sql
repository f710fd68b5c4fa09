-- culprits_stored: the misses by culprit, of all executions; for a WITH.
stats AS (SELECT * FROM culprit_stat)
