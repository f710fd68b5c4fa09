-- What cpus did, for the page: adjacent stretches of threads are one, of whatever threads they are.
, each AS (
	SELECT cpu, began, ended, did = 'idle' AS idle, lag(did = 'idle') OVER w AS was_idle, lag(ended) OVER w AS before
	FROM cpu_state WHERE did <> 'irq' WINDOW w AS (PARTITION BY cpu ORDER BY began)),
joined AS (SELECT *, sum(was_idle IS NOT idle OR before <> began) OVER (PARTITION BY cpu ORDER BY began) AS part FROM each)
SELECT cpu, min(began) - @began@ AS began, max(ended) - @began@ AS ended, idle
FROM joined
GROUP BY cpu, part
ORDER BY cpu, began
LIMIT 200000
