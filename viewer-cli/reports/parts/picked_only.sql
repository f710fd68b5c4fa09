-- picked_only: the end of a query of executions, with a condition.

  WHERE @condition@
