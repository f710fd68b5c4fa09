-- impostors: a row per trace of a user that has events which say that they are of the service, or of another user's connection. These are
-- left out of every other answer.
SELECT t.id AS trace_id, t.uid, t.impostor_events AS n_impostor_events,
	(SELECT value FROM meta WHERE key = 'service_uid') AS service_uid
FROM trace t
WHERE t.impostor_events > 0
ORDER BY t.id
