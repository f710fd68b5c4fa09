-- starvation_episodes: one row per episode, the longest first: an execution that was ready and without a lane for longer than the threshold. open: it
-- began before the recording (start), continues after it (end), or both: gap_ns is the recorded part.
@with@, episodes AS (@episodes@)
SELECT e.execution_id AS id, e.began - @began@ AS began_at, a.name AS app, e.model, e.gap_ns, e.bypassed AS n_bypassed, b.name AS culprit,
	e.top_culprit_ns AS culprit_ns, 100.0 * e.top_culprit_ns / e.gap_ns AS culprit_percent, e.open
FROM episodes e LEFT JOIN apps a ON a.id = e.app_id LEFT JOIN apps b ON b.id = e.top_culprit_app_id
ORDER BY e.gap_ns DESC, e.execution_id, e.began
