-- slo_ids: one row per app or model with the name :name, or whose name was not recorded; unnamed: whether that is so.
@relations@SELECT id, name <> :name AS unnamed FROM @what@s WHERE name = :name OR id IN (@unnamed@) ORDER BY id
