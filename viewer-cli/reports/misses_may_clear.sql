-- misses_may_clear: one row: whether there is a miss for which several were to blame, and apps mostly.
SELECT EXISTS (SELECT 1 FROM miss_blame WHERE blamed = 'several' AND mostly = 'app')
