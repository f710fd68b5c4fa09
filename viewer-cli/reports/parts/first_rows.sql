-- first_rows: the first rows of a query.
SELECT * FROM (
@rows@
) LIMIT @most@
