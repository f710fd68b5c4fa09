-- deadline_unknown: a condition on executions: whether there was a deadline was not recorded. The events of the client and the full events of the
-- service contain it.
deadline IS NULL AND submitted IS NULL AND sides IS NOT 'client' AND path IS NOT 'prepare' AND (enqueued IS NULL OR request_spun_ns IS NULL)
	AND (sides = 'service' OR quality IN ('gap', 'tail'))
