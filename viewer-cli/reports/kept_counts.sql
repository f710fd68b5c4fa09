-- kept_counts: a statement that makes a temporary table of the rows of execution_count, which later queries of the connection find in place of the view.
CREATE TEMP TABLE IF NOT EXISTS execution_count AS SELECT * FROM main.execution_count;
