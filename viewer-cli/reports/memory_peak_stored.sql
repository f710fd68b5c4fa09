-- memory_peak_stored: memory_peak for the whole recording.
@with@
SELECT bytes AS peak_bytes, pools AS n_pools, at - @began@ AS peak_at FROM pool_peak
