-- settings_rules: one row per settings of a service: all columns. Leaves out all but the first 1000.
SELECT * FROM service_rules LIMIT 1000
