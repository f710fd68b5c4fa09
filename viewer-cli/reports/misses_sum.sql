-- misses_sum: one row: the missed deadlines of all executions.
SELECT ifnull(sum(misses), 0) AS n_misses FROM miss_stat
