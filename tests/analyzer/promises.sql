-- promises.sql -- rules for burstscope check (burstscope-slo(5)) by the figures that recompute.sql made of a recording, each with the result that check must not
-- have for any part of that recording. The figure itself is a bound that is kept, and the next smaller one is not.
-- Each session dates an event on its own. Where another session recorded what check judges, figures may differ by the share :apart of themselves and of
-- 2 ms; otherwise it is 0.
-- No bound of the miss ratio is below one execution of all: check cannot tell, by so few, whether such a bound is kept.
CREATE TEMP TABLE ranked AS
SELECT e2e_ns, queue_ns, count(*) OVER () AS n, row_number() OVER (ORDER BY e2e_ns) AS nth_e2e, row_number() OVER (ORDER BY queue_ns) AS nth_queue
FROM figure WHERE path <> 'prepare' AND status = 'NONE';
CREATE TEMP TABLE due AS
SELECT missed, sum(missed) OVER (PARTITION BY stream ORDER BY length(exec), exec ROWS 9 PRECEDING) AS missed_of_ten FROM figure WHERE deadline IS NOT NULL;
CREATE TEMP TABLE longest AS
SELECT 'p50 e2e <= ' AS rule, e2e_ns AS ns FROM ranked WHERE nth_e2e = (n + 1) / 2
UNION ALL SELECT 'p90 queue <= ', queue_ns FROM ranked WHERE nth_queue = (9 * n + 9) / 10
UNION ALL SELECT 'starvation none over ', max(ended - began) FROM pause;

SELECT 'FAIL', 'executions >= ' || count(*) FROM figure WHERE path <> 'prepare'
UNION ALL SELECT 'PASS', 'executions >= ' || (count(*) + 1) FROM figure WHERE path <> 'prepare'
UNION ALL SELECT 'FAIL', printf('miss ratio <= %.4f %%', min(100, 100.0 * sum(missed) / count(*) * (1 + :apart) + 5 * :apart + 0.0001)) FROM due HAVING sum(missed)
UNION ALL SELECT 'PASS', printf('miss ratio <= %.4f %%', max(0, 100.0 * sum(missed) / count(*) * (1 - :apart) - 5 * :apart - 0.0001)) FROM due HAVING sum(missed) > 1
UNION ALL SELECT 'FAIL', 'at most ' || (max(missed_of_ten) + (:apart > 0)) || ' misses in any 10' FROM due HAVING max(missed_of_ten) + (:apart > 0) < 10
UNION ALL SELECT 'PASS', 'at most ' || (max(missed_of_ten) - 1 - (:apart > 0)) || ' misses in any 10' FROM due HAVING max(missed_of_ten) > 1
UNION ALL SELECT 'FAIL', rule || CAST(ns * (1 + :apart) + 2000000 * :apart AS INTEGER) || 'ns' FROM longest WHERE ns IS NOT NULL
UNION ALL SELECT 'PASS', rule || CAST(max(0, (ns - 1) * (1 - :apart) - 2000000 * :apart) AS INTEGER) || 'ns' FROM longest WHERE ns > 0;
