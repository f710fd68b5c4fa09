-- fairness_jain: one row: Jain's index of received over entitled, by window: the smallest, its time, and the median. Leaves out windows with one app
-- only.
@with@, windows AS (@windows@),
each AS (
	SELECT began, jain(1.0 * received_ns / entitled_ns) AS jain
	FROM windows WHERE entitled_ns > 0 GROUP BY began HAVING count(*) > 1)
SELECT @window@ AS window_ns, (SELECT count(DISTINCT began) FROM windows) AS n_windows, count(*) AS n_shared, min(jain) AS min_ratio,
	(SELECT began - @began@ FROM each ORDER BY jain, began LIMIT 1) AS min_at,
	(SELECT jain FROM each ORDER BY jain LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM each)) AS median_ratio
FROM each
