-- limit_least: an expression: the least limit of an inversion, by the models that are stopped, but for the allowance; for verdict_priority_unseen.sql.
ifnull((SELECT min(ns) FROM less_urgent), 0)
