-- whatif_looks: one row per model with executions that were asked to make room and saved their work: their number, and the median time until they stopped.
SELECT e.model_id, count(*), percentile(p.stopped - p.asked, 50)
FROM preemption p JOIN execution e ON e.id = p.execution_id
WHERE p.asked IS NOT NULL AND p.mode = 'save'
GROUP BY 1
