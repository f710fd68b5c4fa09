-- which_place: one row per execution number :seq of a stream number :stream; traces and services may use a number again.
SELECT x.id FROM stream s JOIN execution x ON x.stream_id = s.id WHERE s.number = :stream AND x.seq = :seq ORDER BY x.id
