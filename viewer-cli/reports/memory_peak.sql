-- memory_peak: one row: the most bytes of pools that were mapped at a time, when that was, and how many pools they were.
@with@, steps AS (
	SELECT mapped AS at, bytes, 1 AS n FROM pool_mapping WHERE status IS 'NONE' AND mapped < @to@
	UNION ALL
	SELECT unmapped, -bytes, -1 FROM pool_mapping WHERE status IS 'NONE' AND mapped < @to@ AND unmapped IS NOT NULL),
sums AS (
	SELECT at, sum(bytes) OVER each AS bytes, sum(n) OVER each AS n
	FROM steps WINDOW each AS (ORDER BY at, bytes ROWS UNBOUNDED PRECEDING))
SELECT bytes AS peak_bytes, n AS n_pools, at - @began@ AS peak_at
FROM sums WHERE at >= @from@ AND at < @to@ ORDER BY bytes DESC, at LIMIT 1
