-- which_slowest: at most one row: the picked execution that took longest. Leaves out executions that are not known from end to end.
@relations@ SELECT id FROM picked WHERE e2e_ns IS NOT NULL ORDER BY e2e_ns DESC, id LIMIT 1
