-- case_clock: at most one row: by how much the clock of LTTng is behind that of the database, in the first trace.
SELECT clock_offset FROM trace ORDER BY id LIMIT 1
