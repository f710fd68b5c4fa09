-- timeline_service: one row: the service of the stream :id.
SELECT trace_id * 4096 + (number >> 20) FROM stream WHERE id = :id
