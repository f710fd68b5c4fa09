-- verdict_priority: one row: what the priority verdict is made of (docs/figures.md): all inversions, and that furthest above its bound.
@with@, stretches AS (@stretches@),
each AS MATERIALIZED (
	SELECT i.dur_ns, coalesce(s.stretch_ns, 0) + @off_core@ AS stretch_ns
	FROM inversion i @only_victims@ LEFT JOIN execution h ON h.id = i.holder_id LEFT JOIN stretches s ON s.model_id = h.model_id),
worst AS (SELECT dur_ns, stretch_ns FROM each ORDER BY @excess@ DESC, dur_ns DESC LIMIT 1),
every_choice AS (@choices@),
choices AS MATERIALIZED (SELECT count(*) AS n, coalesce(sum(c.honoured), 0) AS honoured FROM every_choice c @only_chosen@)
SELECT (SELECT count(*) FROM each) AS n_inversions, (SELECT dur_ns FROM worst) AS dur_ns,
	(SELECT stretch_ns FROM worst) AS stretch_ns, (SELECT n FROM choices) AS n_choices,
	(SELECT honoured FROM choices) AS n_honoured,
	EXISTS(SELECT 1 FROM phase_stat GROUP BY app_id HAVING count(DISTINCT priority) > 1) AS mixed,
	EXISTS(SELECT 1 FROM loss WHERE ended >= @from@ AND began < @to@) AS losses
