-- stretches_none: no rows, with the columns of stretches; for a WITH.
SELECT NULL AS model_id, NULL AS app_id, NULL AS priority, NULL AS stretch_ns, NULL AS known, NULL AS measured WHERE 0
