-- explain_held: at most one row: the run that execution @id@ waited for, if that is the primary cause of its missed deadline, and the run was on no cpu for half of
-- the delay or more, and for as long as the lateness: how long that was at least, and for how long of it its thread had not asked for one (NULL: not recorded).
@relations@,
held AS (
	SELECT c.execution_id, c.late_ns AS waited_ns, max(c.late_ns - x.cpu_ns, 0) AS off_ns, max(c.late_ns - x.cpu_ns - x.run_delay_ns, 0) AS asleep_ns
	FROM miss_cause c JOIN execution x ON x.id = c.culprit_execution_id
	WHERE c.execution_id = @id@ AND c.is_primary AND c.cause IN ('crowded_out', 'hogged', 'preempted', 'queued_behind', 'inversion'))
SELECT h.waited_ns, h.off_ns, h.asleep_ns FROM held h JOIN execution x ON x.id = h.execution_id
WHERE h.off_ns > 0 AND h.off_ns >= x.lateness_ns AND 2 * h.off_ns >= (SELECT total(max(o.late_ns, 0)) FROM miss_cause o WHERE o.execution_id = h.execution_id)
