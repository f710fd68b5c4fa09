-- memory_pools_stored: memory_pools for all mapped pools.
@with@
SELECT owner, kind, n AS n_pools, failed AS n_failed, bytes, took_ns, took_p50_ns, lived_p50_ns, largest AS largest_bytes, took_p99_ns,
	never_unmapped AS n_never_unmapped
FROM pool_stat ORDER BY took_ns DESC, n_pools DESC, owner, kind
