-- kept_few: one row if at most half of the executions are picked: of more, to look each of them up takes longer than to read all and ask the condition.
SELECT 1 WHERE (SELECT count(*) FROM kept_picked) <= @all@ / 2
