-- invented.sql -- a database of a recording with holes, and attached as whole one of the same run without: one row for each thing that
-- the first knows and the second does not. Two sessions date an event one after the other: 5 ms are no difference, and where the thread
-- that emitted an event lost its cpu in between, as long as that took (skew, of all executions that were under way meanwhile).
CREATE TEMP TABLE holey_wait AS
SELECT e.exec, w.occupancy, b.exec AS blocker, sum(w.ended - w.began) AS ns
FROM main.wait w JOIN main.execution e ON e.id = w.execution_id LEFT JOIN main.execution b ON b.id = w.blocker_id
WHERE w.occupancy <> 'unknown' GROUP BY 1, 2, 3;
CREATE TEMP TABLE whole_wait AS
SELECT e.exec, w.occupancy, b.exec AS blocker, sum(w.ended - w.began) AS ns
FROM whole.wait w JOIN whole.execution e ON e.id = w.execution_id LEFT JOIN whole.execution b ON b.id = w.blocker_id
WHERE w.occupancy <> 'unknown' GROUP BY 1, 2, 3;
CREATE TEMP TABLE skew AS
SELECT h.exec, min(ifnull(h.submitted, w.submitted), w.submitted) AS began,
	max(coalesce(h.returned, h.signalled, h.run_ended, h.dispatched, h.submitted), coalesce(w.returned, w.signalled, w.run_ended, w.dispatched, w.submitted)) AS ended,
	max(ifnull(abs(h.enqueued - w.enqueued), 0), ifnull(abs(h.dispatched - w.dispatched), 0), ifnull(abs(h.run_ended - w.run_ended), 0),
		ifnull((SELECT max((SELECT min(max(abs(p.stopped - q.stopped), ifnull(abs(p.resumed - q.resumed), 0))) FROM whole.preemption q WHERE q.execution_id = w.id))
			FROM main.preemption p WHERE p.execution_id = h.id), 0)) AS ns
FROM main.execution h JOIN whole.execution w USING (exec);
CREATE TEMP TABLE slack AS
SELECT s.exec, 5000000 + (SELECT max(o.ns) FROM skew o WHERE o.began <= s.ended AND o.ended >= s.began) AS ns FROM skew s;
SELECT 'waits longer' AS rule, h.exec AS id, h.occupancy || ' ' || ifnull(h.blocker, '-') || ': ' || h.ns || ', not ' || ifnull(w.ns, 0) AS detail
FROM holey_wait h LEFT JOIN whole_wait w ON w.exec = h.exec AND w.occupancy = h.occupancy AND w.blocker IS h.blocker
	LEFT JOIN slack s ON s.exec = h.exec
WHERE h.ns > ifnull(w.ns, 0) + ifnull(s.ns, 5000000)
UNION ALL
SELECT 'runs longer', h.exec, h.run_ns || ', not ' || w.run_ns
FROM main.execution h JOIN whole.execution w USING (exec) JOIN slack s USING (exec) WHERE h.run_ns > w.run_ns + s.ns
UNION ALL
SELECT 'passes over', e.exec, p.exec
FROM main.priority_choice c JOIN main.execution e ON e.id = c.chosen_id JOIN main.execution p ON p.id = c.passed_over_id
WHERE NOT c.honoured AND NOT EXISTS (
  SELECT 1 FROM whole.priority_choice d JOIN whole.execution f ON f.id = d.chosen_id WHERE f.exec = e.exec AND NOT d.honoured);
