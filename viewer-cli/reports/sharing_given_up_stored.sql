-- sharing_given_up_stored: the same as sharing_given_up, over the whole recording.
SELECT app_id, sum(n) AS n FROM execution_count WHERE miss IN ('aborted', 'predicted') AND app_id IS NOT NULL GROUP BY 1
