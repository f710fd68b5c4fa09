-- timeline_lost: one row per loss, in time since :began.
SELECT began - :began, ended - :began FROM loss ORDER BY began
