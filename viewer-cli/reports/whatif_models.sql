-- whatif_models: one row per model, in the order of their ids, with the names of its app and its own.
@relations@
SELECT m.id, m.app_id, a.name, n.name, m.step_ns, m.estimate_ns, m.operations, m.prepared IS NULL, m.look_ns
FROM model m LEFT JOIN apps a ON a.id = m.app_id LEFT JOIN models n ON n.id = m.id
ORDER BY m.id
