-- histogram: one row per group of the picked executions and eighth of an octave: number of executions for which a phase took from_ns or more and less
-- than to_ns. Leaves out executions that are incomplete or were not answered.
@with@, @kinds@,
grouped AS MATERIALIZED (
  SELECT key, eighth, min(id) AS id, count(*) AS n
  FROM (SELECT @key@ AS key, p.id, CAST(8 * log2(nullif(@value@, 0)) AS INTEGER) AS eighth
    FROM picked p LEFT JOIN kinds k ON k.id = p.model_id
    WHERE @only@p.complete AND p.status = 'NONE' AND @value@ IS NOT NULL LIMIT -1)
  GROUP BY key, eighth)
SELECT @keys@, ifnull(CAST(ceil(pow(2, g.eighth / 8.0)) AS INTEGER), 0) AS from_ns,
  ifnull(CAST(ceil(pow(2, (g.eighth + 1) / 8.0)) AS INTEGER), 1) AS to_ns, g.n
FROM grouped g CROSS JOIN execution x ON x.id = g.id LEFT JOIN apps a ON a.id = x.app_id LEFT JOIN kinds k ON k.id = x.model_id
  LEFT JOIN burst b ON b.id = x.burst_id
ORDER BY @order@, g.eighth
