-- priority_on_probation: one row: how many choices, and how many inversions, count for nothing, because the app was on probation (choices.sql).
@with@, choices AS (@choices@), probations AS MATERIALIZED (@probations@)
SELECT (SELECT count(*) FROM priority_choice c @only_chosen@) - (SELECT count(*) FROM choices c @only_chosen@) AS n,
	(SELECT count(*) FROM inversion i @only_victims@ WHERE @inverted_on_probation@)
		+ (SELECT ifnull(sum(i.n), 0) FROM lesser_inversion i @only_victims@ WHERE @lesser_on_probation@) AS n_inversions
