-- deadline_unknown: a condition on executions: whether it had a deadline was not recorded. The client says so, and the full events of the service.
deadline IS NULL AND submitted IS NULL AND sides IS NOT 'client' AND path IS NOT 'prepare' AND (enqueued IS NULL OR request_spun_ns IS NULL)
	AND (sides = 'service' OR quality IN ('gap', 'tail'))
