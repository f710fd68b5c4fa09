-- case_unnamed: one row: how many of the executions from @since@ to @until@ have no name of their app or of their model, because the events that name
-- them were not recorded. Leaves out what @only@ leaves out.
@with@
SELECT count(*) AS n_unnamed FROM picked p LEFT JOIN app a ON a.id = p.app_id LEFT JOIN model m ON m.id = p.model_id
WHERE coalesce(p.returned, p.run_ended, p.submitted, p.request_read) BETWEEN @since@ AND @until@ AND @only@
	AND (coalesce(a.name, '') = '' OR coalesce(m.name, '') IN ('', 'model ' || m.number))
