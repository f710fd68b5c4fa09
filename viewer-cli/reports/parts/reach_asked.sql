-- reach_asked: one row: the latest time to which a picked execution may reach, whose end may not be recorded; for hidden.sql.
SELECT max(@to@, ifnull(max(coalesce(signalled, returned, result_read, iif(complete, coalesce(result_written, run_ended), NULL), @ended@)), 0)) FROM picked
