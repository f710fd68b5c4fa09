-- reach_whole: one row: no end, because the asked time has none; for hidden.sql.
SELECT 9223372036854775807
