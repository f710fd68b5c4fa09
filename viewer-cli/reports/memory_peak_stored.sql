-- memory_peak_stored: as memory_peak, of all of the recording.
@with@
SELECT bytes AS peak_bytes, pools AS n_pools, at - @began@ AS peak_at FROM pool_peak
