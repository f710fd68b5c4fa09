-- names: one row per row of apps or models, in the order of their ids: its id, and its name for people.
@relations@
SELECT id, name
FROM @relation@
ORDER BY id
