-- where_check: one row per execution for which a condition holds; prepared, to see whether it is a condition.
@relations@SELECT * FROM picked WHERE @condition@
