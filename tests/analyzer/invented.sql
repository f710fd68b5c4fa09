-- invented.sql -- a database of a recording with holes, and attached as whole one of the same run without: one row for each thing that
-- the first knows and the second does not. Two sessions date an event one after the other, so 5 ms are no difference.
CREATE TEMP TABLE holey_wait AS
SELECT e.exec, w.occupancy, b.exec AS blocker, sum(w.ended - w.began) AS ns
FROM main.wait w JOIN main.execution e ON e.id = w.execution_id LEFT JOIN main.execution b ON b.id = w.blocker_id
WHERE w.occupancy <> 'unknown' GROUP BY 1, 2, 3;
CREATE TEMP TABLE whole_wait AS
SELECT e.exec, w.occupancy, b.exec AS blocker, sum(w.ended - w.began) AS ns
FROM whole.wait w JOIN whole.execution e ON e.id = w.execution_id LEFT JOIN whole.execution b ON b.id = w.blocker_id
WHERE w.occupancy <> 'unknown' GROUP BY 1, 2, 3;
SELECT 'waits longer' AS rule, h.exec AS id, h.occupancy || ' ' || ifnull(h.blocker, '-') || ': ' || h.ns || ', not ' || ifnull(w.ns, 0) AS detail
FROM holey_wait h LEFT JOIN whole_wait w ON w.exec = h.exec AND w.occupancy = h.occupancy AND w.blocker IS h.blocker
WHERE h.ns > ifnull(w.ns, 0) + 5000000
UNION ALL
SELECT 'runs longer', h.exec, h.run_ns || ', not ' || w.run_ns
FROM main.execution h JOIN whole.execution w USING (exec) WHERE h.run_ns > w.run_ns + 5000000
UNION ALL
SELECT 'passes over', e.exec, p.exec
FROM main.priority_choice c JOIN main.execution e ON e.id = c.chosen_id JOIN main.execution p ON p.id = c.passed_over_id
WHERE NOT c.honoured AND NOT EXISTS (
  SELECT 1 FROM whole.priority_choice d JOIN whole.execution f ON f.id = d.chosen_id WHERE f.exec = e.exec AND NOT d.honoured);
