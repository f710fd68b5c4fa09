-- waits_by_holder_kept: the pairs that waits_by_holder_made keeps; for a FROM.
SELECT by_app_id, app_id, ns FROM picked_waits
