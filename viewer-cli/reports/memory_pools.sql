-- memory_pools: one row per owner and kind of pools: how many were mapped, their size, the time to map them, and their lifetime.
@with@
SELECT owner, kind, count(*) AS n_pools, sum(status IS NOT 'NONE') AS n_failed, sum(bytes) AS bytes, sum(took_ns) AS took_ns,
	percentile(took_ns, 50) AS took_p50_ns, percentile(unmapped - mapped, 50) AS lived_p50_ns, max(bytes) AS largest_bytes,
	percentile(took_ns, 99) AS took_p99_ns, sum(unmapped IS NULL AND status IS 'NONE') AS n_never_unmapped
FROM pool_mapping WHERE mapped >= @from@ AND mapped < @to@
GROUP BY owner, kind ORDER BY took_ns DESC, n_pools DESC, owner, kind
