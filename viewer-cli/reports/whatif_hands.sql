-- whatif_hands: one row per stretch on a lane, in the order of their beginnings: how long it took from when the lane was free and the execution was ready,
-- whether the execution was ready before the lane was free, and how the lane came free.
SELECT began - max(left, enqueued), enqueued < left, began, left < over, began = dispatched, left - enqueued, model_id, came
FROM (SELECT s.began, e.enqueued, e.dispatched, e.model_id, coalesce(e.submitted, e.request_read, e.enqueued, e.dispatched) AS came,
    coalesce(lag(s.ended) OVER same, 0) AS left, lag(e.run_ended) OVER same AS over
  FROM lane_slice s JOIN execution e ON e.id = s.execution_id
  WINDOW same AS (PARTITION BY s.instance, s.lane ORDER BY s.began))
WHERE enqueued IS NOT NULL
ORDER BY began
