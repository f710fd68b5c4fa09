-- report_busiest: one row per app that has a color of its own in the overview: the seven that held lanes longest, longest first.
SELECT app_id
FROM app_share
WHERE received_ns > 0
ORDER BY received_ns DESC, app_id
LIMIT 7
