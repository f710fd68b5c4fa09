-- sample_models: one row per model, with the name that it has.
SELECT id, name FROM model
