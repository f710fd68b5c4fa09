-- miss_ledger_picked: what misses_ledger.sql takes of miss_stat, for the picked executions: one row per cause; for a WITH.
WITH missed AS MATERIALIZED (SELECT p.id FROM miss_cause c CROSS JOIN picked p ON p.id = c.execution_id WHERE c.is_primary)
SELECT c.cause, count(DISTINCT c.execution_id) AS n, coalesce(sum(c.late_ns), 0) AS late_ns, coalesce(sum(c.budget_ns), 0) AS budget_ns
	FROM miss_cause c WHERE c.execution_id IN (SELECT id FROM missed)
	GROUP BY c.cause
