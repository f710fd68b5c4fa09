-- Executions that preemptions, inversions and causes of misses name; filled after the load. Reports need a few columns of these executions only,
-- and their rows are spread over all pages of stored_execution.
DELETE FROM stored_involved;

INSERT INTO stored_involved
SELECT x.id, x.app_id, x.model_id, @bits flags.priority x@, @bits flags.status x@, @bits flags.quality x@ = @quality:complete@ AND x.path <> @path:prepare@,
	x.run_ns, x.redo_ns, x.cpu_ns, x.preempted_ns, x.run_delay_ns
FROM (
	SELECT execution_id AS id FROM stored_preemption UNION SELECT by_execution_id FROM stored_preemption
	UNION SELECT victim_id FROM stored_inversion UNION SELECT holder_id FROM stored_inversion
	UNION SELECT execution_id FROM stored_miss_cause UNION SELECT culprit_execution_id FROM stored_miss_cause) n
	CROSS JOIN stored_unpacked x ON x.id = n.id;

