-- explain_phases: the phases of one execution, in their order; dur_ns adds up to its e2e_ns if it is complete. An unknown phase has no dur_ns.
-- Typical is the median over complete, warm executions of the same model and path that found a free lane. With fewer than five of them, the typical run
-- is the median of all recorded ones. Without any, that of a miss is the service's estimate for that execution, as in its ledger, or else for the model, but no
-- longer than its own; other phases have none. Leaves out phases that the execution did not have.
@with@,
stages(nth, phase) AS (VALUES (0, 'prepare'), (1, 'send'), (2, 'decode'), (3, 'fence'), (4, 'slots'), (5, 'queue'), (6, 'run'),
	(7, 'preempted'), (8, 'reply'), (9, 'return'), (10, 'finish'), (11, 'signal')),
@estimate@
SELECT g.phase, p.began - @began@ AS began_at, p.dur_ns,
	CASE WHEN x.e2e_ns > 0 THEN round(100.0 * p.dur_ns / x.e2e_ns, 3) END AS share_percent,
	t.typical_ns, p.dur_ns - t.typical_ns AS beyond_ns
FROM (SELECT * FROM execution WHERE id = @id@) x CROSS JOIN stages g
LEFT JOIN (SELECT * FROM execution_phase WHERE execution_id = @id@) p ON p.phase = g.phase
LEFT JOIN (SELECT t.phase, t.p50_ns AS typical_ns FROM typical t
		WHERE t.model_id = (SELECT model_id FROM execution WHERE id = @id@) AND t.path = (SELECT path FROM execution WHERE id = @id@)
			AND (t.phase <> 'run' OR t.runs > 0)
		UNION ALL SELECT 'run', ns FROM estimate) t ON t.phase = g.phase
WHERE p.dur_ns IS NOT NULL OR CASE g.phase
	WHEN 'prepare' THEN x.prepare_ns IS NULL
	WHEN 'send' THEN x.send_ns IS NULL
	WHEN 'decode' THEN x.decode_ns IS NULL
	WHEN 'fence' THEN x.fence_ns IS NULL AND x.path = 'fenced'
	WHEN 'slots' THEN x.slots_ns IS NULL
	WHEN 'queue' THEN x.queue_ns IS NULL
	WHEN 'run' THEN x.run_ns IS NULL
	WHEN 'preempted' THEN x.preempted_ns IS NULL
	WHEN 'reply' THEN x.reply_ns IS NULL AND x.path <> 'fenced'
	WHEN 'return' THEN x.return_ns IS NULL AND x.path <> 'fenced'
	WHEN 'finish' THEN x.finish_ns IS NULL AND x.path <> 'fenced'
	WHEN 'signal' THEN x.signal_ns IS NULL AND x.path = 'fenced'
END
ORDER BY g.nth
