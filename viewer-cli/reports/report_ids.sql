-- report_ids: one row: the first id that no execution has, and the number of executions.
SELECT coalesce(max(id), 0) + 1, count(*) FROM execution
