-- unseen_unmixed: inversions that were not seen, where no app had work of several priorities: only an app that is not known; for a WITH.
inverted_unseen(ns) AS (SELECT 9223372036854775807 FROM referred WHERE app_id IS NULL), @unseen_work@
