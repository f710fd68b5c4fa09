-- where_columns: one row per execution: the columns that --where may name.
@relations@SELECT * FROM picked
