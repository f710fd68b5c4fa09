-- sharing_sight: one row: whether there are executions and a service, and how much of the asked time was not recorded: losses, executions that may
-- have been ready, lanes with an unknown holder, and executions that began before the recording. The time of a lane before its first event needs no
-- check: its holder then either left it during the recording, and is such an execution, or is hidden by a loss.
@with@
SELECT s.service, s.executions, (SELECT count(*) FROM holes) + (SELECT count(*) FROM @hidden@) + (SELECT count(*) FROM hidden_lanes WHERE began IS NOT NULL OR execution_id IS NOT NULL OR ended >= (SELECT max(ended) FROM trace))
	+ (SELECT count(*) FROM (SELECT 1 FROM execution_count WHERE quality = 'head' AND sides <> 'client' LIMIT 1) CROSS JOIN execution x CROSS JOIN reach r
		WHERE x.quality = 'head' AND x.sides <> 'client' AND ifnull(coalesce(x.run_ended, x.result_written, x.signalled, x.returned) >= r.began - 1000000000, 1)) AS hidden,
	s.losses, s.partly
FROM sight s
