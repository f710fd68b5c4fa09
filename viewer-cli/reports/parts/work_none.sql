-- work_none: no rows; for work_read.
SELECT NULL, NULL WHERE 0
