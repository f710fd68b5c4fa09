-- only_victims: a join of inversions i: those whose victim is picked.
CROSS JOIN picked ov ON ov.id = i.victim_id
