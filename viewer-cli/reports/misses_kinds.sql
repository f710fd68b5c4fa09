-- misses_kinds: executions by kind, with the number of each, from the stored counts; for a FROM.
SELECT app_id, model, priority, status, miss, n, deadlines, 0 AS unknown, 0 AS unseen FROM execution_count
