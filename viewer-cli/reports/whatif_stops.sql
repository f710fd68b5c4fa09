-- whatif_stops: one row per execution that was asked to make room and saved its work, in the order in which they stopped: the time until then.
SELECT stopped - asked, stopped
FROM preemption
WHERE asked IS NOT NULL AND stopped >= asked AND mode = 'save'
ORDER BY stopped
