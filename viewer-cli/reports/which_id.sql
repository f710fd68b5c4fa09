-- which_id: at most one row: the execution :id.
SELECT id FROM execution WHERE id = :id
