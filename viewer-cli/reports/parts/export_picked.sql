-- export_picked: one row per picked execution.
@relations@SELECT * FROM picked ORDER BY id
