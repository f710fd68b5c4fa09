-- settings: one row: for each setting that an advice depends on, 1 if any service ever had it. lost: whether events were dropped.
@with@
SELECT count(*) > 0 AS known, max(policy = 'fair') AS fair, max(policy IN ('fair', 'priority')) AS heeds_priority,
	max(preempt <> 'none' AND policy <> 'fifo') AS preempts, max(preempt = 'save') AS saves, max(policy = 'native') AS native,
	max(spin_us >= 1000000) AS polls_always, EXISTS (SELECT 1 FROM loss WHERE cause IN ('events', 'packets')) AS lost
FROM service_rules
