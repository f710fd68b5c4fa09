-- metrics_starvations: one row per app that starved, the one that starved longest first.
SELECT app_id, count(*), sum(gap_ns)
FROM starvation
GROUP BY app_id
ORDER BY 3 DESC, 1
