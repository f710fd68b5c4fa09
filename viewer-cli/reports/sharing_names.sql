-- sharing_names: one row per app: its name, and the name of the other app that it waited for longest; of an app that waited for no other one, the app that held
-- the lane at most of its refusals. Then how long it waited for other apps (of services with several lanes: and for itself), and how many of its executions were
-- refused. The placeholder defines the pairs of apps, with the ns for which the first waited for the second.
@with@, refused AS MATERIALIZED (
	SELECT p.app_id, r.holder_app_id AS by_app_id, count(*) AS n
	FROM refusal r CROSS JOIN picked p WHERE p.id = r.execution_id GROUP BY 1, 2),
pairs AS MATERIALIZED (SELECT app_id, by_app_id, ns FROM (@takers@)),
ranked AS (
	SELECT t.app_id, t.by_app_id, row_number() OVER (PARTITION BY t.app_id ORDER BY t.refusals, t.much DESC, t.by_app_id) AS nth
	FROM (SELECT app_id, by_app_id, ns AS much, 0 AS refusals FROM pairs UNION ALL SELECT app_id, by_app_id, n, 1 FROM refused) t
	WHERE t.by_app_id <> t.app_id AND t.much > 0),
waited AS MATERIALIZED (
	SELECT app_id, sum(ns) AS ns FROM pairs
	WHERE by_app_id IS NOT app_id OR (SELECT max(lanes) FROM service_rules) > 1 GROUP BY 1)
SELECT a.id, a.name, (SELECT b.name FROM apps b WHERE b.id = r.by_app_id) AS taker, (SELECT w.ns FROM waited w WHERE w.app_id = a.id) AS waited_ns,
	(SELECT sum(f.n) FROM refused f WHERE f.app_id = a.id) AS refused
FROM apps a LEFT JOIN ranked r ON r.app_id = a.id AND r.nth = 1 ORDER BY 1
