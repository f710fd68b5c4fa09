-- with_names: the names of apps and models for people; begins a WITH.
WITH apps(id, name) AS NOT MATERIALIZED (SELECT id, coalesce(shown, name) FROM app),
models(id, name) AS NOT MATERIALIZED (
  SELECT id, CASE WHEN ifnull(name, '') = '' THEN 'model ' || ifnull(number & 0xffffffff, id) ELSE name END FROM model)
