-- slots: one row per app and model executed by bursts: slots looked up, slots not known, and cold executions. Shares are of the n_known executions
-- with all lookups recorded. Sums cover these, too, so they are lower bounds if there are fewer than n_executions. Leaves out other paths.
@with@, looked AS (SELECT *, slot_lookups IS NOT NULL AND cold IS NOT NULL AS known FROM picked WHERE burst_id IS NOT NULL)
SELECT app, model, count(DISTINCT burst_id) AS n_bursts, count(*) AS n_executions, sum(cold) AS n_cold,
	100.0 * sum(cold) FILTER (WHERE known) / nullif(sum(known), 0) AS cold_percent, sum(slot_lookups) AS n_lookups, sum(slot_misses) AS n_misses,
	100.0 * sum(slot_lookups - slot_misses) / sum(slot_lookups) AS hit_percent,
	percentile(CASE WHEN cold AND complete AND status = 'NONE' THEN slots_ns END, 50) AS cold_slots_p50_ns,
	percentile(CASE WHEN NOT cold AND complete AND status = 'NONE' THEN slots_ns END, 50) AS warm_slots_p50_ns, sum(known) AS n_known
FROM looked
GROUP BY app_id, model ORDER BY n_misses DESC, n_lookups DESC, app, model
