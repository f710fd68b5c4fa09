-- timeline_focus: the execution :id, which lasted from :from to :to: one row for that, one per wait and one per stretch on a lane, in time since :began.
SELECT 0, :from, :to
UNION ALL SELECT 1, began - :began, ended - :began FROM wait WHERE execution_id = :id
UNION ALL SELECT 2, began - :began, ended - :began FROM lane_slice WHERE execution_id = :id
