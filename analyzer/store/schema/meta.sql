-- What the file is, what was imported into it, and what there is to be read (schema_doc).
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE schema_doc(relation TEXT, column TEXT, unit TEXT, about TEXT, PRIMARY KEY(relation, column)) WITHOUT ROWID;

CREATE TABLE trace(
	id INTEGER PRIMARY KEY, uuid TEXT, path TEXT, host TEXT, session TEXT, began INTEGER, ended INTEGER, events
	INTEGER, lost_events INTEGER, lost_packets INTEGER, clock TEXT, clock_offset INTEGER, foreign_events INTEGER,
	unusable_events INTEGER, cut INTEGER);

CREATE TABLE loss(
	trace_id INTEGER, cpu INTEGER, pid INTEGER, began INTEGER, ended INTEGER, events INTEGER, packets INTEGER);

INSERT INTO schema_doc VALUES
('meta', '', '', 'key: what there is to say of the whole file'),
('meta', 'key', 'text', 'schema_version, tool_version; counts: executions, of them incomplete, touched_by_loss (quality gap or tail), missed; left_out_ and what an import left out: stragglers (events of executions that were over), absurd (events that cannot be), evicted (executions, too many were under way), late (summaries), forgotten (stretches of waits); latest_miss and slowest: execution.id of the largest lateness_ns, and e2e_ns'),
('meta', 'value', '', 'text or a number'),
('schema_doc', '', '', 'column of this file, and one row per relation with column empty'),
('schema_doc', 'relation', 'text', 'table or view; those called stored_ are packed, may change, and are not described'),
('schema_doc', 'column', 'text', 'empty: about says what a row is'),
('schema_doc', 'unit', 'text', 'ns: a duration; time: ns on the clock of this file (trace.clock_offset); id; label: one of few words; count; number; bytes; 0/1; ratio; text'),
('schema_doc', 'about', 'text', 'a sentence'),
('trace', '', '', 'trace imported'),
('trace', 'id', 'id', 'in the order of import, from 1'),
('trace', 'uuid', 'text', 'the trace''s own; a trace is in here once'),
('trace', 'path', 'text', 'where it was read from'),
('trace', 'host', 'text', 'the name of the machine that it was recorded on'),
('trace', 'session', 'text', 'of the recording'),
('trace', 'began', 'time', 'of the first event'),
('trace', 'ended', 'time', 'of the last event'),
('trace', 'events', 'count', 'events read'),
('trace', 'lost_events', 'count', 'events that the tracer dropped'),
('trace', 'lost_packets', 'count', 'packets of events that the tracer dropped'),
('trace', 'clock', 'text', 'of the trace: its name, or what identifies it'),
('trace', 'clock_offset', 'ns', 'what was added to the raw clock of its host: one number per host'),
('trace', 'foreign_events', 'count', 'events of other providers, left out'),
('trace', 'unusable_events', 'count', 'events of ours that have not the fields they need, left out'),
('trace', 'cut', '0/1', 'its end is missing'),
('loss', '', '', 'interval in which events were lost'),
('loss', 'trace_id', 'id', 'trace.id'),
('loss', 'cpu', 'number', 'whose buffer it was; NULL: unknown'),
('loss', 'pid', 'number', 'whose buffer it was; NULL: unknown, or that of all of a user'),
('loss', 'began', 'time', 'nothing was lost before'),
('loss', 'ended', 'time', 'nothing was lost after, until the next one'),
('loss', 'events', 'count', 'NULL: some'),
('loss', 'packets', 'count', 'NULL: some');
