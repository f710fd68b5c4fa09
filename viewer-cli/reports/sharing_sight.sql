-- sharing_sight: one row: whether executions were asked for, the service was recorded, and how much of the asked time was not: losses, executions that may
-- have been ready, lanes whose holder is not known, and executions that had begun before the recording. Of a lane before its first event nothing
-- has to be known: who held it then left it in the recording, and is one of those that had begun before, or a loss hides that.
@with@, @hidden@
SELECT s.service, s.executions, (SELECT count(*) FROM holes) + (SELECT count(*) FROM hidden_waits) + (SELECT count(*) FROM hidden_lanes WHERE began IS NOT NULL OR execution_id IS NOT NULL OR ended >= (SELECT max(ended) FROM trace))
	+ (SELECT count(*) FROM execution x CROSS JOIN reach r WHERE EXISTS (SELECT 1 FROM execution_count c WHERE c.quality = 'head' AND c.sides <> 'client')
		AND x.quality = 'head' AND x.sides <> 'client' AND ifnull(coalesce(x.run_ended, x.result_written, x.signalled, x.returned) >= r.began - 1000000000, 1)) AS hidden
FROM sight s
