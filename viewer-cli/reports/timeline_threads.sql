-- timeline_threads: one row per stretch of a cpu between :from and :to, in time since :began. Leaves out interrupts, which lie within what else the cpu did.
SELECT cpu, did = 'thread', began - :began, ended - :began FROM cpu_state WHERE did <> 'irq' AND began < :to AND ended > :from ORDER BY cpu, began
