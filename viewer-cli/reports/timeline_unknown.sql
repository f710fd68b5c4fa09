-- timeline_unknown: one row per interval that touches the asked span in which the holder of a lane is unknown; those that overlap or adjoin are one.
@with@,
services AS MATERIALIZED (SELECT instance, min(trace_id) * 4096 + instance AS service FROM service_rules GROUP BY instance),
parts AS (
	SELECT instance, lane, max(ifnull(began, @from@), @from@) AS began, min(ifnull(ended, @to@), @to@) AS ended
	FROM unknown_lane WHERE ifnull(began < @to@, 1) AND ifnull(ended > @from@, 1)),
begun AS (
	SELECT *, ifnull(began > max(ended) OVER (PARTITION BY instance, lane ORDER BY began, ended ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 1) AS is_first
	FROM parts),
numbered AS (
	SELECT *, sum(is_first) OVER (PARTITION BY instance, lane ORDER BY began, ended ROWS UNBOUNDED PRECEDING) AS nth FROM begun)
SELECT s.service, n.lane, min(n.began) - @began@ AS began_at, max(n.ended) - @began@ AS ended_at
FROM numbered n JOIN services s USING (instance) GROUP BY n.instance, n.lane, n.nth ORDER BY 1, 2, 3
