-- choices: one row per choice between priorities; for a WITH. An execution that another lane may have taken at the same time does not count as passed
-- over: the choice already takes that into account.
SELECT c.at, c.chosen_id, c.passed_over_id, c.honoured, c.app_id FROM priority_choice c
