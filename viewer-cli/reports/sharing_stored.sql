-- sharing_stored: one row per app of a service: its response times, work and deadlines, real and under fair sharing, over the whole recording.
SELECT trace_id, instance, app_id, n, mean_ns, ideal_mean_ns, p95_ns, p95_least_ns, ideal_p95_ns, work_ns, ideal_work_ns, received_ns,
	n_due, n_met, ideal_met_least, ideal_met_most, ideal_mean_without_ns, ideal_p95_without_ns, ideal_work_without_ns FROM app_sharing
	ORDER BY 1, 2, 3
