-- models_alike: of the picked executions: the names that stand for models of several apps which differ (figures.md, One execution), three of them as
-- text, and how many there are. Models of one app that differ have names of their own. Leaves out trial runs of models.
@with@,
used AS (SELECT DISTINCT p.model_id AS id FROM picked p WHERE @only@p.path IS NOT 'prepare'),
alike AS (SELECT m.name, row_number() OVER (ORDER BY m.name) AS nth FROM used u JOIN model m ON m.id = u.id WHERE m.name <> '' AND m.operations > 0
  GROUP BY m.name HAVING max(count(DISTINCT m.operations), count(DISTINCT m.const_bytes), count(DISTINCT m.digest)) > 1)
SELECT group_concat(name, ', ') FILTER (WHERE nth <= 3) AS names, count(*) AS n_names FROM alike
