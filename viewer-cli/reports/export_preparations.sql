-- export_preparations: one row per preparation that missed its deadline.
SELECT d.at, m.app_id, d.kind, d.over_ns, d.model_id
FROM deadline_miss d LEFT JOIN model m ON m.id = d.model_id
WHERE d.execution_id IS NULL AND d.at IS NOT NULL
