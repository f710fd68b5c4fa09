-- slo_ids: one row per app or model with the name :name.
@relations@SELECT id FROM @what@s WHERE name = :name ORDER BY id
