-- priority_on_probation: one row: how many choices count for nothing, because the app was on probation (choices.sql).
@with@, choices AS (@choices@)
SELECT (SELECT count(*) FROM priority_choice c @only_chosen@) - (SELECT count(*) FROM choices c @only_chosen@) AS n
