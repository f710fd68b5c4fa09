-- sharing_given_up: one row per app: the number of its executions that were refused or given up for their deadlines.
@with@SELECT app_id, count(*) AS n FROM picked WHERE miss IN ('aborted', 'predicted') AND app_id IS NOT NULL GROUP BY 1
