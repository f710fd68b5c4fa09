-- diff_hosts: one row: the machines of the recording.
SELECT group_concat(host, ', ') FROM (SELECT DISTINCT host FROM trace ORDER BY 1)
