-- verdict_starvation: one row: what the starvation verdict is made of (docs/figures.md).
@with@, episodes AS (@episodes@)
SELECT count(*) AS n_episodes, max(gap_ns) AS max_gap_ns, (@executions@) AS n_executions,
	EXISTS(SELECT 1 FROM loss WHERE ended >= @from@ AND began < @to@) AS losses
FROM episodes
