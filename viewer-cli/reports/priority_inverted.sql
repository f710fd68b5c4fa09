-- priority_inverted: one row: 1 if there is an inversion.
SELECT EXISTS (SELECT 1 FROM inversion)
