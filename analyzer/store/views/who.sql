-- loss, process, service_rules, model, stream, burst: one row per each; burst has the streams of path burst only.
CREATE VIEW loss AS SELECT @columns loss@ FROM stored_loss;

CREATE VIEW process AS SELECT @columns process@ FROM stored_process;

CREATE VIEW service_rules AS SELECT @columns service_rules@ FROM stored_rules;

CREATE VIEW model AS SELECT @columns model@ FROM stored_model;

CREATE VIEW stream AS SELECT @columns stream@ FROM stored_stream;

CREATE VIEW burst AS SELECT @columns burst ..cold@, first - opened AS first_ns
FROM stored_stream WHERE path = @path:burst@;
