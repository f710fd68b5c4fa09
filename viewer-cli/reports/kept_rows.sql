-- kept_rows: a statement that makes a temporary table of the rows of a query, which two answers of a page have.
CREATE TEMP TABLE kept_rows AS @rows@;
