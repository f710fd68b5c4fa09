-- unseen_none: no inversion and no work was unseen; for a WITH.
inverted_unseen(ns) AS (SELECT NULL), unseen_work(n, strange) AS (SELECT 0, 0)
