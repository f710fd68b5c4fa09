-- diff_model_names: one row per model that told what it consists of. diff_models.sql describes the first names of these.
SELECT name FROM model WHERE number IS NOT NULL AND operations IS NOT NULL AND const_bytes IS NOT NULL
