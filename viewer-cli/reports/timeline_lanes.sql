-- timeline_lanes: one row per lane of a service whose rules were set before :to. Leaves out policy native, which has no lanes.
WITH RECURSIVE n(lane) AS (SELECT 0 UNION ALL SELECT lane + 1 FROM n WHERE lane < 63)
SELECT DISTINCT trace_id * 4096 + instance AS service, lane FROM service_rules JOIN n ON lane < lanes
WHERE at < :to AND policy <> 'native' ORDER BY 1, 2
