-- starved_picked: the end of a query of episodes s: those of picked executions.
WHERE EXISTS (SELECT 1 FROM picked p WHERE p.id = s.execution_id)
