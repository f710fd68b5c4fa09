-- diff_hosts: one row per machine of the recording: its name. Leaves out traces without one.
SELECT DISTINCT host FROM trace WHERE host IS NOT NULL ORDER BY 1
