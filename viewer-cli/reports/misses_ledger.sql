-- misses_ledger: one row per cause: both ledgers of all misses added up. late_ns adds up to their lateness, budget_ns to their budgets. Leaves out
-- nothing.
@with@, @stats@
SELECT cause, sum(n) AS n_misses, sum(late_ns) AS late_ns, sum(budget_ns) AS budget_ns
FROM stats GROUP BY cause ORDER BY late_ns DESC, budget_ns DESC, cause
