-- metrics_pools: one row per owner and kind of pools, the most frequent first.
SELECT owner, kind, n, bytes
FROM pool_stat
ORDER BY n DESC, 1, 2
