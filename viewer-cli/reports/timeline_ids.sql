-- timeline_ids: one row: the first and the last execution that may be under way between :from and :to.
SELECT min(first_id), max(last_id) FROM id_block WHERE began < :to AND ended >= :from
