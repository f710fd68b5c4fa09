-- export_any: at most one row: an execution was picked.
@relations@SELECT 1 FROM picked LIMIT 1
