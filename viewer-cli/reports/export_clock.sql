-- export_clock: one row: how many clocks the traces have, and the offset of the first; beginning and end of the recording; its uuid; and the time of
-- boot, NULL unless all traces agree on it to a millisecond.
SELECT count(DISTINCT clock_offset), min(clock_offset),
  (SELECT min(b) FROM (SELECT min(began) AS b FROM trace UNION ALL SELECT min(began) FROM id_block)), max(ended), min(uuid),
  iif(max(boottime_ns) - min(boottime_ns) < 1000000 AND count(boottime_ns) = count(*), min(boottime_ns), NULL)
FROM trace
