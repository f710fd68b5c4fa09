-- report_involved: one row per execution that others involve, because they missed a deadline, were preempted or waited for a less urgent one.
SELECT execution_id FROM involved
UNION
SELECT blocker_id FROM wait WHERE blocker_id IS NOT NULL AND execution_id IN (SELECT execution_id FROM miss_cause)
