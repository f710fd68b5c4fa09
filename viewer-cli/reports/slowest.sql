-- slowest: one row per execution, the longest from end to end first; ties by id, so that the order is stable. Leaves out executions of unknown
-- length.
@with@
SELECT id, app, model, path, priority, status, miss, e2e_ns, run_ns, queue_ns
FROM picked WHERE e2e_ns IS NOT NULL ORDER BY e2e_ns DESC, id
