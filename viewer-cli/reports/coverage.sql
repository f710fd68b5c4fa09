-- coverage: one row: traces, events, losses by kind, executions and waits that the import added up, and services that ran at once: what every answer
-- rests on. services: 1, if no two had executions at once, as where one was killed and another one begun; streams are looked at only if there was
-- more than one service. unsure_deadlines, unsure_outcomes: whether executions may have had deadlines that were not recorded, and whether deadlines may
-- have been met or not. silent_services: services that were silent until the end, though clients waited; silent_ns: the longest of these times. One pass over execution_count finds all that it has: of many apps, it has many rows.
WITH counted AS (
	SELECT sum(n) FILTER (WHERE sides = 'service' AND path IS NOT 'prepare') AS service_alone, sum(n) FILTER (WHERE sides = 'client') AS client_alone,
		sum(n) FILTER (WHERE quality = 'head') AS headless, max(sides = 'service' OR quality IN ('gap', 'tail')) AS unsure_deadlines,
		max(deadlines > 0 AND miss IS NULL AND (sides = 'service' OR quality <> 'complete' OR path = 'fenced' AND status IS NULL)) AS unsure_outcomes
	FROM execution_count)
SELECT count(t.id) AS traces, ifnull(sum(events), 0) AS events, ifnull(sum(lost_events), 0) AS lost_events,
	ifnull(sum(lost_packets), 0) AS lost_packets, (SELECT count(*) FROM loss) AS losses, ifnull(sum(cut), 0) AS cut,
	(SELECT count(*) FROM loss WHERE events IS NULL AND packets IS NULL AND cause <> 'unchecked') AS uncounted,
	(SELECT group_concat(cause, ', ') FROM (SELECT DISTINCT cause FROM loss WHERE events IS NULL AND packets IS NULL AND cause <> 'unchecked' ORDER BY cause)) AS causes,
	(SELECT count(*) FROM loss WHERE cause = 'unchecked') AS unchecked,
	ifnull(sum(unusable_events), 0) + (SELECT ifnull(sum(value), 0) FROM meta WHERE key IN ('left_out_unusable', 'left_out_absurd')) AS unusable,
	(SELECT count(*) FROM loss WHERE cause = 'unusable') AS unusable_losses, ifnull(sum(impostor_events), 0) AS impostors,
	ifnull((SELECT value FROM meta WHERE key = 'service_uid'), -1) AS service_uid,
	ifnull((SELECT value FROM meta WHERE key = 'service_rival_uid'), -1) AS rival_uid,
	ifnull(c.service_alone, 0) AS service_alone,
	ifnull(c.client_alone, 0) AS client_alone,
	(SELECT ifnull(max(value), 0) FROM meta WHERE key IN ('joined_statistics', 'joined_counts')) AS executions,
	(SELECT ifnull(max(value), 0) FROM meta WHERE key = 'joined_interference') AS waits,
	(SELECT ifnull(max(value), 0) FROM meta WHERE key = 'joined_causes') AS causes,
	(SELECT ifnull(max(value), 0) FROM meta WHERE key = 'joined_inversions') AS inversions, ifnull(sum(unreadable), 0) AS unreadable,
	CASE WHEN (SELECT count(*) FROM (SELECT DISTINCT trace_id, instance FROM service_rules)) < 2 THEN 1 ELSE
		(SELECT CASE WHEN max(began < ended_before) THEN count(*) ELSE 1 END FROM (
			SELECT min(opened) AS began, max(max(coalesce(last, closed, 9223372036854775807))) OVER (
				ORDER BY min(opened) ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ended_before
			FROM stream WHERE executions > 0 AND number IS NOT NULL AND opened IS NOT NULL GROUP BY trace_id, number >> 20))
	END AS services,
	ifnull(c.headless, 0) AS headless,
	(SELECT ifnull(max(value), 0) FROM meta WHERE key = 'timeless') AS timeless,
	(SELECT ifnull(max(value), 0) FROM meta WHERE key = 'joined_streams') AS streams,
	ifnull(c.unsure_deadlines, 0) AS unsure_deadlines, ifnull(c.unsure_outcomes, 0) AS unsure_outcomes,
	(SELECT group_concat(substr(key, 8), ', ') FROM (SELECT key FROM meta WHERE key GLOB 'absent_*' ORDER BY key)) AS absent,
	(SELECT count(*) FROM silence WHERE NOT went_on) AS silent_services, (SELECT max(ended - began) FROM silence WHERE NOT went_on) AS silent_ns
FROM counted c LEFT JOIN trace t
