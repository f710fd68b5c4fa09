-- apart.sql -- how far percentiles of a database are from those of nnburst-load's log, attached as load: one line.
WITH
both AS (SELECT l.returned - l.submitted AS log_ns, e.e2e_ns,
                row_number() OVER (ORDER BY l.returned - l.submitted) AS log_rank, row_number() OVER (ORDER BY e.e2e_ns) AS rank,
                count(*) OVER () AS n
         FROM execution e JOIN load.log l USING (exec)),
at(percent) AS (VALUES (50), (90), (99)),
figures AS (SELECT percent, min(n) AS n,
                   max(iif(log_rank = (n * percent + 99) / 100, log_ns, 0)) AS log_ns,
                   max(iif(rank = (n * percent + 99) / 100, e2e_ns, 0)) AS e2e_ns
            FROM both, at GROUP BY percent)
SELECT min(n) || ' executions, in the log longer by '
       || group_concat('p' || percent || ' ' || (log_ns - e2e_ns) || ' of ' || e2e_ns || ' ns', ', ') FROM figures;
