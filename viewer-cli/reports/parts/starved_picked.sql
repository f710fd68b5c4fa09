-- starved_picked: the end of a condition on episodes w: those of picked executions.
AND EXISTS (SELECT 1 FROM picked p WHERE p.id = w.execution_id)
