-- only_chosen: a join of choices c: those of a picked execution.
CROSS JOIN picked oc ON oc.id = c.chosen_id
