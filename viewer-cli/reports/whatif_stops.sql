-- whatif_stops: one row per execution that was asked to make room and saved its work, in the order in which they stopped: the time until then; and one per
-- execution that lost its lane because its thread could not use it: stalled.
SELECT stopped - asked, stopped, mode IN ('stalled', 'no_cpu') AS stalled
FROM preemption
WHERE asked IS NOT NULL AND stopped >= asked AND mode = 'save' OR mode IN ('stalled', 'no_cpu')
ORDER BY stopped
