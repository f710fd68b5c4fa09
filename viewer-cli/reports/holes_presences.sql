-- holes_presences: one row per app: the interval in which it had a stream; NULL: from the start, or to the end, of the recording.
SELECT a.name, iif(count(s.opened) = count(*), min(s.opened), NULL), iif(count(s.closed) = count(*), max(s.closed), NULL)
FROM stream s JOIN app a ON a.id = s.app_id GROUP BY a.name
