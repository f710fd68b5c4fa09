-- slots_stored: slots for all executions, from stored sums.
@with@, bursts AS (
	SELECT b.app_id, m.name AS model, count(*) AS n FROM burst b LEFT JOIN models m ON m.id = b.model_id WHERE b.executions > 0 GROUP BY b.app_id, m.name),
usual AS (
	SELECT app_id, model, max(p50_ns) FILTER (WHERE cold) AS cold_ns, max(p50_ns) FILTER (WHERE NOT cold) AS warm_ns
	FROM phase_stat WHERE path = 'burst' AND phase = 'slots' GROUP BY app_id, model)
SELECT a.name AS app, c.model, b.n AS n_bursts, sum(c.n) AS n_executions, sum(c.cold) AS n_cold,
	100.0 * sum(c.cold_known) / nullif(sum(c.slots_known), 0) AS cold_percent, sum(c.slot_lookups) AS n_lookups, sum(c.slot_misses) AS n_misses,
	100.0 * (sum(c.slot_lookups) - sum(c.slot_misses)) / sum(c.slot_lookups) AS hit_percent,
	u.cold_ns AS cold_slots_p50_ns, u.warm_ns AS warm_slots_p50_ns, sum(c.slots_known) AS n_known
FROM execution_count c LEFT JOIN bursts b ON b.app_id IS c.app_id AND b.model IS c.model LEFT JOIN usual u ON u.app_id IS c.app_id AND u.model = c.model
	LEFT JOIN apps a ON a.id = c.app_id
WHERE c.path = 'burst' GROUP BY c.app_id, c.model ORDER BY n_misses DESC, n_lookups DESC, app, c.model
