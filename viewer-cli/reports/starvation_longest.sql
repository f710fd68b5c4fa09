-- starvation_longest: one row per episode of starvation of one app and model, the longest first. Leaves out all but the 16 longest.
@with@, episodes AS (@episodes@)
SELECT e.execution_id, e.began, e.gap_ns, e.began - @began@ AS began_at FROM episodes e LEFT JOIN apps a ON a.id = e.app_id WHERE a.name IS @app@ AND e.model IS @model@
ORDER BY e.gap_ns DESC, e.execution_id LIMIT 16
