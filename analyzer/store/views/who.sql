-- loss, process, cpu_state, service_rules, model, stream, burst, span: one row per each; burst has the streams of path burst only.
CREATE VIEW loss AS SELECT @columns loss@ FROM stored_loss;

CREATE VIEW process AS SELECT @columns process@ FROM stored_process;

CREATE VIEW cpu_state AS SELECT @columns cpu_state@ FROM stored_cpu_state;

CREATE VIEW service_rules AS SELECT @columns service_rules@ FROM stored_rules;

CREATE VIEW model AS SELECT @columns model@ FROM stored_model;

CREATE VIEW stream AS SELECT @columns stream@ FROM stored_stream;

CREATE VIEW burst AS SELECT @columns burst ..cold@, first - opened AS first_ns, @columns burst spin_us..@
FROM stored_stream WHERE path = @path:burst@;

CREATE VIEW span AS SELECT @columns span s ..kind@,
	coalesce(s.app_id, (SELECT p.app_id FROM stored_process p WHERE p.pid = s.pid AND p.trace_id = s.trace_id AND p.role = @role:client@ LIMIT 1))
		AS app_id, @columns span s process_id..@
FROM stored_span s;
