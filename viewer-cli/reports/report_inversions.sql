-- Waits for less urgent work of the same app, for the page: the longest ones.
SELECT victim_id, holder_id, lane, began - @began@ AS began, dur_ns
FROM inversion
ORDER BY dur_ns DESC
LIMIT 1000
