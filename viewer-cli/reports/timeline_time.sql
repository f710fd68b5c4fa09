-- timeline_time: one row: when the execution of explain_execution.sql began and ended, since the start of the recording.
SELECT began_at, ended_at FROM (@execution@)
