-- slo_names: one row per name of an app or a model. Leaves out all but the first 1000.
@relations@SELECT DISTINCT name FROM @what@s ORDER BY 1 LIMIT 1000
