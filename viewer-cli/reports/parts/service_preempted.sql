-- service_preempted: a join of preemptions s: those of some executions x.
CROSS JOIN execution x ON x.id = s.execution_id AND @executions@
