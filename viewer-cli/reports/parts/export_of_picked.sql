-- export_of_picked: one row per row of a relation whose execution is picked.
@relations@SELECT * FROM @relation@ WHERE execution_id IN (SELECT id FROM picked)
