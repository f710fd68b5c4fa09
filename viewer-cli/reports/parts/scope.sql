-- scope: one row per stream that was asked for when it was recorded. Each placeholder is empty, or a condition more.
SELECT id FROM stream WHERE 1@by_app@@by_pid@@by_service@
