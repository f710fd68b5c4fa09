-- memory_peak: one row: the most bytes of pools mapped at a time, the time of that, and the number of pools. Leaves out mappings that failed. Pools
-- that are mapped when the asked time begins are in `before`: only steps within it are sorted.
@with@, before AS MATERIALIZED (
	SELECT ifnull(sum(bytes), 0) AS bytes, count(*) AS n FROM pool_mapping
	WHERE mapped < @from@ AND (unmapped IS NULL OR unmapped >= @from@) AND status IS 'NONE'),
steps AS (
	SELECT mapped AS at, bytes, 1 AS n FROM pool_mapping WHERE mapped >= @from@ AND mapped < @to@ AND status IS 'NONE'
	UNION ALL
	SELECT unmapped, -bytes, -1 FROM pool_mapping WHERE unmapped >= @from@ AND unmapped < @to@ AND mapped < @to@ AND status IS 'NONE'),
sums AS (
	SELECT at, sum(bytes) OVER each AS bytes, sum(n) OVER each AS n
	FROM steps WINDOW each AS (ORDER BY at, bytes ROWS UNBOUNDED PRECEDING))
SELECT ifnull(s.bytes, 0) + b.bytes AS peak_bytes, s.n + b.n AS n_pools, s.at - @began@ AS peak_at
FROM sums s CROSS JOIN before b ORDER BY peak_bytes DESC, s.at LIMIT 1
