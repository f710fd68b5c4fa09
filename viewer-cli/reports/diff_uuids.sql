-- diff_uuids: one row: what identifies the traces of the recording.
SELECT group_concat(uuid, ',') FROM (SELECT uuid FROM trace WHERE uuid IS NOT NULL ORDER BY 1)
