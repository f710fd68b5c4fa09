-- impostors: one row per trace of a user with events that claim to be the service's, or of another user's connection. All other answers leave these
-- events out.
SELECT t.id AS trace_id, t.uid, t.impostor_events AS n_impostor_events,
	(SELECT value FROM meta WHERE key = 'service_uid') AS service_uid
FROM trace t
WHERE t.impostor_events > 0
ORDER BY t.id
