-- choices: one row per choice between priorities; for a WITH.
-- Whoever may have been given another lane just then is not passed over: that the choice says already.
SELECT c.at, c.chosen_id, c.passed_over_id, c.honoured, c.app_id FROM priority_choice c
