-- slots: one row per app and model that bursts ran: slots looked up, those not known, and cold executions.
-- Leaves out other paths, and executions whose slots nobody saw.
@with@
SELECT app, model, count(DISTINCT burst_id) AS n_bursts, count(*) AS n_executions, sum(cold) AS n_cold,
	100.0 * sum(cold) / count(cold) AS cold_percent, sum(slot_lookups) AS n_lookups, sum(slot_misses) AS n_misses,
	100.0 * sum(slot_lookups - slot_misses) / sum(slot_lookups) AS hit_percent,
	percentile(CASE WHEN cold AND complete AND status = 'NONE' THEN slots_ns END, 50) AS cold_slots_p50_ns,
	percentile(CASE WHEN NOT cold AND complete AND status = 'NONE' THEN slots_ns END, 50) AS warm_slots_p50_ns
FROM picked WHERE burst_id IS NOT NULL
GROUP BY app_id, model ORDER BY n_misses DESC, n_lookups DESC, app, model
