-- explain_ledger: why one execution missed its deadline: late_ns adds up to its lateness_ns, budget_ns to its budget_ns. The primary cause first.
@with@
SELECT c.cause, c.culprit_execution_id, a.name AS culprit_app, m.name AS culprit_model, x.priority AS culprit_priority,
	c.late_ns, c.budget_ns, c.saved, c.is_primary
FROM miss_cause c LEFT JOIN execution x ON x.id = c.culprit_execution_id LEFT JOIN apps a ON a.id = c.culprit_app_id
LEFT JOIN models m ON m.id = x.model_id
WHERE c.execution_id = @id@ ORDER BY c.is_primary DESC, c.late_ns DESC, c.budget_ns DESC, c.cause, c.culprit_execution_id
