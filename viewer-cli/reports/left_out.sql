-- left_out: of the picked executions: how many there are, how many are in no percentile, and how many were seen from one side alone. Leaves out trial
-- runs of models, which are in no figure of executions.
@with@
SELECT count(*) AS n, count(*) FILTER (WHERE NOT p.complete) AS n_incomplete,
  count(*) FILTER (WHERE p.complete AND p.status IS NOT 'NONE') AS n_not_answered, count(*) FILTER (WHERE p.sides = 'service') AS n_service,
  count(*) FILTER (WHERE p.sides = 'client') AS n_client
FROM picked p WHERE @only@p.path IS NOT 'prepare'
