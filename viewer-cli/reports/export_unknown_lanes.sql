-- export_unknown_lanes: one row per stretch of a lane whose holder is unknown, in order of time: its interval and its name, then which lane it is.
SELECT began, ended, 'lane ' || lane, instance, lane
FROM unknown_lane
ORDER BY began, ended
