-- coverage: one row: traces, events, losses by kind, and executions and waits that the import added up: what every answer rests on.
SELECT count(*) AS traces, ifnull(sum(events), 0) AS events, ifnull(sum(lost_events), 0) AS lost_events,
	ifnull(sum(lost_packets), 0) AS lost_packets, (SELECT count(*) FROM loss) AS losses, ifnull(sum(cut), 0) AS cut,
	(SELECT count(*) FROM loss WHERE events IS NULL AND packets IS NULL AND cause <> 'unchecked') AS uncounted,
	(SELECT group_concat(cause, ', ') FROM (SELECT DISTINCT cause FROM loss WHERE events IS NULL AND packets IS NULL AND cause <> 'unchecked' ORDER BY cause)) AS causes,
	(SELECT count(*) FROM loss WHERE cause = 'unchecked') AS unchecked,
	ifnull(sum(unusable_events), 0) + (SELECT ifnull(sum(value), 0) FROM meta WHERE key IN ('left_out_unusable', 'left_out_absurd')) AS unusable,
	(SELECT count(*) FROM loss WHERE cause = 'unusable') AS unusable_losses, ifnull(sum(impostor_events), 0) AS impostors,
	ifnull((SELECT value FROM meta WHERE key = 'service_uid'), -1) AS service_uid,
	ifnull((SELECT value FROM meta WHERE key = 'service_rival_uid'), -1) AS rival_uid,
	(SELECT ifnull(sum(n), 0) FROM execution_count WHERE sides = 'service' AND path IS NOT 'prepare') AS service_alone,
	(SELECT ifnull(sum(n), 0) FROM execution_count WHERE sides = 'client') AS client_alone,
	(SELECT ifnull(max(value), 0) FROM meta WHERE key IN ('joined_statistics', 'joined_counts')) AS executions,
	(SELECT ifnull(max(value), 0) FROM meta WHERE key = 'joined_interference') AS waits,
	(SELECT ifnull(max(value), 0) FROM meta WHERE key = 'joined_causes') AS causes,
	(SELECT ifnull(max(value), 0) FROM meta WHERE key = 'joined_inversions') AS inversions, ifnull(sum(unreadable), 0) AS unreadable
FROM trace
