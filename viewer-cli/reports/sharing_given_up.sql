-- sharing_given_up: one row per app: the number of its executions that were given up after their deadline, while they waited or ran.
@with@SELECT app_id, count(*) AS n FROM picked WHERE miss = 'aborted' AND app_id IS NOT NULL GROUP BY 1
