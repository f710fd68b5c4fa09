-- kinds: the models, by the words of --by that are equal for models of one kind; for a WITH.
kinds(id, kind, name) AS MATERIALIZED (
  SELECT id, min(id) OVER (PARTITION BY @kind@), nullif(name, '') FROM model)
