-- kinds_kept: the same as kinds, where kept_picked.sql has made a table of it.
kinds(id, kind, name) AS NOT MATERIALIZED (SELECT id, kind, name FROM temp.kept_kinds)
