-- only_preempted: a join of preemptions s: those of picked executions.
CROSS JOIN picked op ON op.id = s.execution_id
