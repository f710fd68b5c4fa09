-- limit_floor: an expression: a limit that no inversion's limit is below, by all models, but for the allowance; for verdict_priority_unseen.sql.
min(0, ifnull((SELECT min(stretch_ns * known) FROM stretches), 0))
