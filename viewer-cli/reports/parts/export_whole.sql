-- export_whole: one row per row of a relation.
SELECT * FROM @relation@
