-- waits_by_holder: one row per app that waited and app that held the lane, with the time of all such waits; for a FROM.
SELECT by_app_id, app_id, ns FROM interference
