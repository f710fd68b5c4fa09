-- The fold reports shares and windows of many apps in parts (bsa_left_out.parts): one row for each app, and one for each app and window. An upper
-- bound is known if that of each part is. What was no lane time at all is no window. Windows in stored_lag_run are not in parts.
CREATE TEMP TABLE whole_share AS
SELECT app_id, sum(received_ns), sum(entitled_ns), max(max_lag_ns), lag_at, iif(count(most_lag_ns) = count(*), max(most_lag_ns), NULL)
FROM (SELECT *, first_value(max_lag_at) OVER (PARTITION BY app_id ORDER BY max_lag_ns DESC) AS lag_at FROM stored_share)
GROUP BY app_id;
DELETE FROM stored_share;
INSERT INTO stored_share SELECT * FROM whole_share;
DROP TABLE whole_share;

CREATE TEMP TABLE whole_lag AS
SELECT window_began, app_id, sum(received_ns), sum(entitled_ns), max(lag_ns), iif(count(most_ns) = count(*), max(most_ns), NULL)
FROM stored_lag GROUP BY window_began, app_id HAVING sum(received_ns) > 0 OR sum(entitled_ns) > 0;
DELETE FROM stored_lag;
INSERT INTO stored_lag SELECT * FROM whole_lag;
DROP TABLE whole_lag;
