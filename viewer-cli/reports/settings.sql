-- settings: one row: for each setting that an advice depends on, 1 if any service ever had it. lost: whether events were dropped. replayable: whatif can
-- answer: one service, one set of rules, no loss, and executions enough.
@with@
SELECT count(*) > 0 AS known, max(policy = 'fair') AS fair, max(policy IN ('fair', 'priority')) AS heeds_priority,
	max(preempt <> 'none' AND policy <> 'fifo') AS preempts, max(preempt = 'save') AS saves, max(policy = 'native') AS native,
	max(spin_us >= 1000000) AS polls_always, EXISTS (SELECT 1 FROM loss WHERE cause IN ('events', 'packets')) AS lost,
	max(policy = 'native') = 0 AND count(deadlines) = count(*) AND
		(SELECT count(*) FROM (SELECT DISTINCT policy, preempt, lanes, deadlines, instance, trace_id FROM service_rules)) = 1 AND
		NOT EXISTS (SELECT 1 FROM loss) AND NOT EXISTS (SELECT 1 FROM trace WHERE lost_events > 0 OR lost_packets > 0 OR cut) AND
		(SELECT sum(n) FROM execution_count WHERE quality = 'complete') >= 20 AS replayable
FROM service_rules
